import { describe, expect, test } from "bun:test";
import { eventsOf } from "../../api/events.ts";
import { asCode } from "./as-code.ts";
import { chatBody, faultOfTools, type Settings, type Turn } from "./conversation.ts";
import { type Answer, withDelta } from "./stream-chat.ts";

const settings: Settings = { model: "openai/gpt-5-mini", system: "", tokensMax: 256, tools: "" };
const weather = '[{ "type": "function", "function": { "name": "weather", "parameters": { "type": "object" } } }]';
const turns: Turn[] = [
  { role: "user", text: "It's?", pictures: ["data:image/png;base64,AAAA"] },
  {
    role: "assistant",
    text: "",
    toolCalls: [{ id: "c1", name: "weather", arguments: '{"at":"Oslo"}' }],
    requestId: "r",
  },
  { role: "tool", callId: "c1", text: "rain" },
];

describe("a body", () => {
  test("has what is set, and nothing else", () => {
    expect(chatBody(settings, [{ role: "user", text: "Hi", pictures: [] }])).toEqual({
      model: "openai/gpt-5-mini",
      messages: [{ role: "user", content: "Hi" }],
      max_completion_tokens: 256,
    });
  });

  test("has the system's words first, pictures, calls of tools and their results", () => {
    const { messages, tools } = chatBody({ ...settings, system: "Be brief.", tools: weather }, turns);
    expect(messages).toEqual([
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "It's?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: '{"at":"Oslo"}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "rain" },
    ]);
    expect(tools).toEqual(JSON.parse(weather));
  });

  test.each([["{"], ['{ "a": 1 }']])("tools must be a list: %s", (tools) => {
    expect(faultOfTools({ tools })).toBeString();
    expect(faultOfTools({ tools: weather })).toBeUndefined();
  });
});

describe("as code", () => {
  const body = chatBody({ ...settings, system: "Be brief.", tools: weather }, turns);

  test("curl quotes apostrophes", () => {
    expect(asCode("curl", body, "https://gateway.example")).toContain(String.raw`It'\''s?`);
  });

  test("the SDK of Anthropic has a body of Messages", () => {
    const code = asCode("anthropic", body, "https://gateway.example");
    const [, text = ""] = /create\(([\s\S]*)\);\nconsole/.exec(code) ?? [];
    expect(JSON.parse(text)).toEqual({
      model: "openai/gpt-5-mini",
      max_tokens: 256,
      system: "Be brief.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "It's?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "weather", input: { at: "Oslo" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "rain" }] },
      ],
      tools: [{ name: "weather", input_schema: { type: "object" } }],
    });
  });
});

test("the parts of a call of a tool are joined", () => {
  const parts = [
    { tool_calls: [{ index: 0, id: "c1", function: { name: "weather", arguments: "" } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"at":' } }] },
    { content: "Hm", tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] },
  ];
  const answer = parts.reduce<Pick<Answer, "text" | "toolCalls">>(withDelta, { text: "", toolCalls: [] });
  expect(answer).toEqual({ text: "Hm", toolCalls: [{ id: "c1", name: "weather", arguments: '{"at":"Oslo"}' }] });
});

test("events are read wherever their bytes are cut", async () => {
  const bytes = new TextEncoder().encode(": ping\n\ndata: größe\n\ndata: a\ndata: b\r\n\r\ndata: [DONE]\n\n");
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect(await Array.fromAsync(eventsOf(new Response(stream)))).toEqual(["größe", "a\nb", "[DONE]"]);
});
