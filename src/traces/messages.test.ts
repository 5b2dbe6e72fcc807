import { describe, expect, test } from "bun:test";
import type { Dialect } from "../core/index.ts";
import { messagesOf } from "./messages.ts";

const bytes = (value: object | string): Uint8Array =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

function read(dialect: Dialect, body: object | string | undefined, answer?: object | string, bytesMax = 65_536) {
  const content = {
    body: body === undefined ? undefined : bytes(body),
    answer: answer === undefined ? undefined : bytes(answer),
  };
  const { system, input, output, isCut } = messagesOf(content, { dialect, callId: "c1", model: "m", bytesMax });
  const parsed = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
  return { system: parsed(system), input: parsed(input), output: parsed(output), isCut };
}

const events = (...data: object[]): string => data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
const user = (content: string) => [{ role: "user", parts: [{ type: "text", content }] }];

describe("a chat", () => {
  const body = {
    model: "m",
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Weather?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
      {
        role: "assistant",
        tool_calls: [{ id: "t1", type: "function", function: { name: "weather", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "t1", content: "sunny" },
    ],
  };

  test("has its messages, without the bytes of files", () => {
    const answer = {
      id: "a",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "Sunny." }, finish_reason: "stop" }],
    };
    expect(read("chat", body, answer)).toEqual({
      system: [{ type: "text", content: "Be brief." }],
      input: [
        {
          role: "user",
          parts: [
            { type: "text", content: "Weather?" },
            { type: "blob", modality: "image", mime_type: "image/png" },
          ],
        },
        { role: "assistant", parts: [{ type: "tool_call", id: "t1", name: "weather", arguments: '{"a":1}' }] },
        {
          role: "tool",
          parts: [{ type: "tool_call_response", id: "t1", response: [{ type: "text", content: "sunny" }] }],
        },
      ],
      output: [{ role: "assistant", parts: [{ type: "text", content: "Sunny." }], finish_reason: "stop" }],
      isCut: false,
    });
  });

  test("has as much of a stream as there was", () => {
    const chunk = (content: string) => ({
      id: "a",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    });
    const { output } = read("chat", body, events(chunk("Sun"), chunk("ny")));
    expect(output).toMatchObject([{ role: "assistant", parts: [{ type: "text", content: "Sunny" }] }]);
  });
});

test.each<[Dialect, object, object, string]>([
  [
    "messages",
    { model: "m", max_tokens: 9, system: "Be brief.", messages: [{ role: "user", content: "Hello" }] },
    {
      id: "a",
      type: "message",
      role: "assistant",
      model: "m",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "max_tokens",
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    "length",
  ],
  [
    "responses",
    { model: "m", instructions: "Be brief.", input: "Hello" },
    {
      id: "a",
      object: "response",
      status: "completed",
      model: "m",
      output: [
        {
          type: "message",
          id: "m1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hi", annotations: [] }],
        },
      ],
    },
    "stop",
  ],
  [
    "gemini",
    {
      model: "m",
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [{ role: "user", parts: [{ text: "Hello" }] }],
    },
    { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", index: 0 }] },
    "stop",
  ],
])("%s has the same messages", (dialect, body, answer, finish) => {
  expect(read(dialect, body, answer)).toEqual({
    system: [{ type: "text", content: "Be brief." }],
    input: user("Hello"),
    output: [{ role: "assistant", parts: [{ type: "text", content: "Hi" }], finish_reason: finish }],
    isCut: false,
  });
});

describe("within the bound", () => {
  test("long texts are cut, and the oldest messages left out", () => {
    const long = { model: "m", messages: [{ role: "user", content: "é".repeat(100_000) }] };
    const { input, isCut } = read("chat", long, undefined, 1_024);
    expect([isCut, Buffer.byteLength(JSON.stringify(input)) <= 1_024]).toEqual([true, true]);
    expect(JSON.stringify(input)).toContain("ééé");
    const many = {
      model: "m",
      messages: Array.from({ length: 500 }, (_, index) => ({ role: "user", content: `message ${index}` })),
    };
    const kept = read("chat", many, undefined, 1_024);
    expect(JSON.stringify(kept.input)).toEndWith(JSON.stringify(user("message 499")).slice(1));
    expect(Buffer.byteLength(JSON.stringify(kept.input))).toBeLessThanOrEqual(1_024);
  });

  test("what cannot be read is left out", () => {
    for (const broken of ["", "{", "[]", '{"messages":7}', "\0"]) {
      expect(read("chat", broken, broken)).toMatchObject({ system: undefined, input: undefined });
    }
    expect(read("chat", undefined, undefined)).toMatchObject({ input: undefined, output: undefined, isCut: true });
  });
});
