import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { chatCodec, chatRequest } from "./index.ts";

const good = { model: "openai/gpt-5", messages: [{ role: "user", content: "hi" }] };
const refused = (body: object): string[] => [
  ...new Set(chatRequest.safeParse(body).error?.issues.map(({ path }) => path.join("."))),
];

describe("a chat request", () => {
  test("keeps unknown members, at every depth", () => {
    const body = {
      ...good,
      messages: [{ role: "user", content: [{ type: "x", y: { z: 1 } }], name: "n", w: null }],
      stream_options: { include_usage: true, other: 1 },
      unknown: [1, { a: "b" }],
    };
    expect(chatRequest.parse(body)).toEqual(body);
  });

  test.each(["openai/gpt-5", "own/org/model:8b-q4_K_M@rev", "a/ü", "a/模型", "a/😀", `a/${"x".repeat(254)}`])(
    "may name the model %p",
    (model) => {
      expect(refused({ ...good, model })).toEqual([]);
    },
  );

  test.each([
    "",
    "a/\u0000",
    "a/\n",
    "a/\u001f",
    "a/\u007f",
    "a/\u0080",
    "a/\u009f",
    "a/\ud800",
    "a/\udfff\ud800",
    `a/${"x".repeat(255)}`,
  ])("may not name the model %j", (model) => {
    expect(refused({ ...good, model })).toEqual(["model"]);
  });

  test.each<[object, string]>([
    [{ max_tokens: 0 }, "max_tokens"],
    [{ max_tokens: 2 ** 53 }, "max_tokens"],
    [{ max_completion_tokens: 0.5 }, "max_completion_tokens"],
    [{ n: 0 }, "n"],
    [{ n: 129 }, "n"],
    [{ stream: "yes" }, "stream"],
    [{ messages: [] }, "messages"],
    [{ messages: [{ role: "user", content: [{ text: "no type" }] }] }, "messages.0.content"],
  ])("may not contain %j", (more, path) => {
    expect(refused({ ...good, ...more })).toEqual([path]);
  });
});

describe("the chat dialect", () => {
  test("ends a broken stream with an event that OpenAI's SDKs throw on", () => {
    const event = chatCodec.errorEvent(new GatewayError("upstream_interrupted", "It broke\noff."), "req_1");
    expect(event).toMatch(/^data: [^\n]+\n\n$/);
    expect(JSON.parse(event.slice("data: ".length))).toEqual({
      error: { message: "It broke\noff.", type: "upstream_error", code: "upstream_interrupted", param: null },
    });
  });

  test.each<[object, boolean]>([
    [{}, true],
    [{ stream_options: null }, true],
    [{ stream_options: {} }, true],
    [{ stream_options: { include_usage: false } }, true],
    [{ stream_options: { include_usage: true } }, false],
  ])("hides the usage where %j did not ask for it: %p", (more, hides) => {
    const observer = chatCodec.observe(chatRequest.parse({ ...good, ...more }), () => ({ usage: { output: 1 } }));
    const chunk = 'data: {"choices":[],"usage":{"completion_tokens":1}}\n\n';
    expect(observer.see(Buffer.from(chunk)).toString()).toBe(hides ? "" : chunk);
  });

  test("refuses an answer that would cost after its call has ended", () => {
    for (const deferred of [undefined, null, false]) chatRequest.parse({ ...good, deferred });
    expect(() => chatRequest.parse({ ...good, deferred: true })).toThrow("is not offered here");
  });

  test("measures a whole answer's text", () => {
    const answer = { choices: [{ message: { content: "four", reasoning_content: "ab" } }] };
    expect(chatCodec.outputBytes(JSON.stringify(answer, undefined, 2))).toBe(6);
  });
});
