/**
 * A loop of tools that one provider has begun goes on at every other one, by the SDKs of each dialect, which return all of an answer:
 * thoughts, signatures, ids, members. The simulators refuse what their providers refuse.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type Rig, startRig } from "../kit/index.ts";

/** One of each provider, with as many limits as possible. */
const models = [
  "openai/gpt-5.5",
  "google/gemini-3.5-flash",
  "xai/grok-4.3",
  "deepseek/deepseek-reasoner",
  "anthropic/claude-opus-5-5",
  "mistral/magistral-medium-latest",
  "byteplus/seed-1-8-251228",
];

let rig: Rig;
let clients: { openai: OpenAI; anthropic: Anthropic; google: GoogleGenAI };
beforeAll(async () => {
  rig = await startRig();
  const { token: apiKey } = await rig.caller();
  clients = {
    openai: new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: rig.gateway.url, apiKey, maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: rig.gateway.url } }),
  };
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const name = "weather";
const description = "Tells the weather.";
const schema = {
  type: "object" as const,
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const question = "What is the weather like?";
const limit = 9_000;

/** The words of the answer after the result of the tool, of a conversation that the first model began and the second one goes on with. */
const dialects: Readonly<Record<string, (first: string, second: string) => Promise<unknown>>> = {
  async chat(first, second) {
    const { completions } = clients.openai.chat;
    const tools = [{ type: "function" as const, function: { name, description, parameters: schema } }];
    const options = { tools, reasoning_effort: "high" as const, max_completion_tokens: limit };
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: question }];
    const begun = await completions.stream({ model: first, messages, ...options }).finalChatCompletion();
    const message = begun.choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    if (message === undefined || calls.length === 0) throw new Error("no call");
    messages.push(message, ...calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "sunny" })));
    return (await completions.create({ model: second, messages, ...options })).choices[0]?.message.content;
  },

  async responses(first, second) {
    const { responses } = clients.openai;
    const tools = [{ type: "function" as const, name, description, parameters: schema, strict: false }];
    const options = {
      tools,
      store: false,
      include: ["reasoning.encrypted_content" as const],
      reasoning: { effort: "high" as const, summary: "auto" as const },
      max_output_tokens: limit,
    };
    const { output } = await responses.stream({ model: first, input: question, ...options }).finalResponse();
    const plain = output.map((item) => ({ ...item, parsed_arguments: undefined }));
    const items = JSON.parse(JSON.stringify(plain)) as OpenAI.Responses.ResponseInputItem[];
    const results = output.flatMap((item) =>
      item.type === "function_call"
        ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "sunny" }]
        : [],
    );
    if (results.length === 0) throw new Error("no call");
    const input = [{ role: "user" as const, content: question }, ...items, ...results];
    return (await responses.create({ model: second, input, ...options })).output_text;
  },

  async messages(first, second) {
    const { messages } = clients.anthropic;
    const tools = [{ name, description, input_schema: schema }];
    const options = {
      tools,
      max_tokens: limit,
      thinking: { type: "adaptive" as const },
      output_config: { effort: "high" as const },
    };
    const asked = { role: "user" as const, content: question };
    const { content } = await messages.stream({ model: first, messages: [asked], ...options }).finalMessage();
    const results = content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "sunny" }] : [],
    );
    if (results.length === 0) throw new Error("no call");
    const history = [asked, { role: "assistant" as const, content }, { role: "user" as const, content: results }];
    const answer = await messages.create({ model: second, messages: history, ...options });
    return answer.content.find((block) => block.type === "text")?.text;
  },

  async gemini(first, second) {
    const tools = [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }];
    const config = { tools, thinkingConfig: { includeThoughts: true } };
    const asked = { role: "user", parts: [{ text: question }] };
    const begun = await clients.google.models.generateContent({ model: first, contents: [asked], config });
    const content = begun.candidates?.[0]?.content ?? {};
    const results = (content.parts ?? []).flatMap(({ functionCall }) =>
      functionCall === undefined
        ? []
        : [{ functionResponse: { ...functionCall, args: undefined, response: { output: "sunny" } } }],
    );
    if (results.length === 0) throw new Error("no call");
    const contents = [asked, content, { role: "user", parts: results }];
    return (await clients.google.models.generateContent({ model: second, contents, config })).text;
  },
};

describe.each(Object.entries(dialects))("in %s", (_dialect, goesOn) => {
  test.each(models)("%s begins, and every other one goes on", async (first) => {
    const other: unknown[] = [];
    for (const second of models) {
      const said = String(await goesOn(first, second).catch(String));
      if (!said.includes("sunny")) other.push([second, said]);
    }
    expect(other).toEqual([]);
  });
});
