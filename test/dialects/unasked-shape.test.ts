/** An upstream that streams when it was not asked to, or doesn't when it was. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Gateway, type ScriptedUpstream, startGateway, startScriptedUpstream } from "../kit/index.ts";

let upstream: ScriptedUpstream;
let gateway: Gateway;
let apiKey: string;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  gateway = await startGateway({
    config: { upstream: { retries: 0 } },
    providers: { plain: { kind: "openai-compatible", base_url: upstream.url, api_key: "sk-plain" } },
  });
  apiKey = await gateway.token();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const model = "plain/some-model";
const call = { id: "call_1", type: "function", function: { name: "look", arguments: '{"at":"é"}' } };
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_000,
  model: "some-model",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "Let me see.", tool_calls: [call] },
      finish_reason: "tool_calls",
    },
  ],
  usage: { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 },
};

const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });

test("a Messages stream of a whole answer", async () => {
  upstream.answerWith(() => Response.json(completion));
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Look." }];
  const stream = anthropic().messages.stream({ model, max_tokens: 100, messages });
  const message = await stream.finalMessage();
  expect(message.content).toMatchObject([
    { type: "text", text: "Let me see." },
    { type: "tool_use", id: "call_1", name: "look", input: { at: "é" } },
  ]);
  expect(message).toMatchObject({ stop_reason: "tool_use", usage: { input_tokens: 30, output_tokens: 7 } });
});

test("a Responses stream of a whole answer, which is kept like any other", async () => {
  upstream.answerWith(() => Response.json(completion));
  const response = await openai().responses.stream({ model, input: "Look." }).finalResponse();
  expect(response.output_text).toBe("Let me see.");
  expect(response.output).toMatchObject([{ type: "message" }, { type: "function_call", arguments: '{"at":"é"}' }]);
  expect(response.usage).toMatchObject({ input_tokens: 30, output_tokens: 7, total_tokens: 37 });
  const { id, output } = await openai().responses.retrieve(response.id);
  expect(id).toBe(response.id);
  expect(output.map((item) => item.id)).toEqual(response.output.map((item) => item.id));
});

test("it is charged by its usage, and contains its cost", async () => {
  upstream.answerWith(() => Response.json(completion));
  const answer = await fetch(`${gateway.url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, input: "Look.", stream: true }),
  });
  expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
  expect(answer.headers.get("x-tollgate-credits")).toBe("0.000044");
  expect(await answer.text()).toEndWith("data: [DONE]\n\n");
});

test("an unrequested stream is not an answer, and free", async () => {
  const chunk = { ...completion, object: "chat.completion.chunk", choices: [] };
  upstream.answerWith(
    () => new Response(`data: ${JSON.stringify(chunk)}\n\n`, { headers: { "content-type": "text/event-stream" } }),
  );
  const thrown: unknown = await openai()
    .responses.create({ model, input: "Look." })
    .catch((reason: unknown) => reason);
  expect(thrown).toMatchObject({ status: 502, code: "upstream_invalid_answer" });
});
