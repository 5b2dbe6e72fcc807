/** Tools that run at the client and are no functions, at an upstream that knows functions only. */
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
const openai = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });

/** Each delta has a role, as some upstreams send it. */
function streamOf(name: string, args: string): Response {
  const pieces = [args.slice(0, 7), args.slice(7)];
  const deltas = [
    { content: "Let me see." },
    { tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: "" } }] },
    ...pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
  ];
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "some-model",
    choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: finish }],
  });
  const usage = { ...chunk({}), choices: [], usage: { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 } };
  const events = [...deltas.map((delta) => chunk(delta)), chunk({}, "tool_calls"), usage];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}

const sent = (): Record<string, unknown> => JSON.parse(upstream.requests[0]?.body ?? "{}") as Record<string, unknown>;

test("Codex's tool for patches, streamed, and its result", async () => {
  const patch = '*** Begin Patch\n*** Add File: a.txt\n+"x"\n*** End Patch\n';
  upstream.answerWith(() => streamOf("apply_patch", JSON.stringify({ input: patch })));
  const tools = [{ type: "custom" as const, name: "apply_patch", description: "Patches files." }];
  const response = await openai().responses.stream({ model, input: "Patch.", tools, store: false }).finalResponse();
  expect(sent()["tools"]).toMatchObject([{ type: "function", function: { name: "apply_patch" } }]);
  expect(response.output).toMatchObject([
    { type: "message" },
    { type: "custom_tool_call", call_id: "call_1", name: "apply_patch", input: patch },
  ]);
  upstream.answerWith(() => streamOf("apply_patch", JSON.stringify({ input: patch })));
  const output = { type: "custom_tool_call_output" as const, call_id: "call_1", output: "Done." };
  const call = { type: "custom_tool_call" as const, call_id: "call_1", name: "apply_patch", input: patch };
  await openai()
    .responses.stream({ model, input: [{ role: "user", content: "Patch." }, call, output], tools, store: false })
    .finalResponse();
  expect(sent()["messages"]).toMatchObject([
    { role: "user" },
    { tool_calls: [{ function: { arguments: JSON.stringify({ input: patch }) } }] },
    { role: "tool", tool_call_id: "call_1", content: "Done." },
  ]);
});

test("a tool of chat that takes free text, although the bytes of chat would pass", async () => {
  upstream.answerWith(() => streamOf("note", '{"input":"a \\"b\\""}'));
  const tools = [{ type: "custom" as const, custom: { name: "note" } }];
  const messages = [{ role: "user" as const, content: "Note." }];
  const stream = await openai().chat.completions.create({ model, messages, tools, stream: true });
  const calls: unknown[] = [];
  for await (const { choices } of stream) calls.push(...(choices[0]?.delta.tool_calls ?? []));
  expect(sent()["tools"]).toMatchObject([{ type: "function", function: { name: "note" } }]);
  expect(calls).toMatchObject([{ type: "custom", custom: { name: "note" } }, { custom: { input: 'a "b"' } }]);
});

test("OpenAI's shell", async () => {
  upstream.answerWith(() => streamOf("shell", '{"commands":["ls"]}'));
  const tools = [{ type: "shell" as const }, { type: "apply_patch" as const }];
  const response = await openai().responses.stream({ model, input: "List.", tools }).finalResponse();
  expect(response.output.at(-1)).toMatchObject({
    type: "shell_call",
    call_id: "call_1",
    action: { commands: ["ls"] },
  });
  // The response is stored by the gateway, with the call.
  upstream.answerWith(() => streamOf("shell", '{"commands":["pwd"]}'));
  const output = [{ stdout: "a.txt", stderr: "", outcome: { type: "exit" as const, exit_code: 0 } }];
  const input = [{ type: "shell_call_output" as const, call_id: "call_1", output }];
  await openai().responses.stream({ model, input, tools, previous_response_id: response.id }).finalResponse();
  expect(sent()["messages"]).toMatchObject([
    { role: "user", content: "List." },
    { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "shell" } }] },
    { role: "tool", tool_call_id: "call_1", content: JSON.stringify(output) },
  ]);
});

test("Anthropic's shell", async () => {
  upstream.answerWith(() => streamOf("bash", '{"command":"ls"}'));
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey, maxRetries: 0 });
  const message = await anthropic.messages
    .stream({
      model,
      max_tokens: 100,
      messages: [{ role: "user", content: "List." }],
      tools: [{ type: "bash_20250124", name: "bash" }],
    })
    .finalMessage();
  expect(sent()["tools"]).toMatchObject([{ function: { name: "bash", parameters: { type: "object" } } }]);
  expect(message.content.at(-1)).toMatchObject({ type: "tool_use", name: "bash", input: { command: "ls" } });
});

test("a stream whose deltas each have a role has one for its client", async () => {
  upstream.answerWith(() => streamOf("f", "{}"));
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }], stream: true }),
  });
  expect((await answer.text()).match(/"role"/g)).toHaveLength(1);
});
