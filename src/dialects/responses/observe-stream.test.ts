import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { responsesUpstream } from "../../../test/kit/dialects/contexts.ts";
import { responsesCodec, responsesRequest } from "./index.ts";

const request = responsesRequest.parse({ model: "openai/x", input: "hi" });

const event = (data: JsonObject): Buffer =>
  Buffer.from(`event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`);

const usage = { input_tokens: 9, input_tokens_details: { cached_tokens: 4 }, output_tokens: 3 };
const created = event({ type: "response.created", response: { status: "in_progress", usage: null, error: null } });
const delta = event({ type: "response.output_text.delta", delta: "12345678", obfuscation: "zzzz" });
const textDone = event({ type: "response.output_text.done", text: "12345678" });
const completed = event({ type: "response.completed", response: { output: [{ text: "12345678" }], usage } });
const incomplete = event({ type: "response.incomplete", response: { usage } });
const failed = event({
  type: "response.failed",
  response: { error: { code: "server_error", message: "m" }, usage: null },
});
const done = Buffer.from("data: [DONE]\n\n");

function observe(...blocks: Buffer[]) {
  const observer = responsesCodec.observe(request, responsesUpstream.readUsage);
  const shown = Buffer.concat(blocks.map((block) => observer.see(block))).toString();
  const { outputBytes, done: ended, complete, failed: broke } = observer;
  return { shown, usage: observer.usage?.usage, outputBytes, done: ended, complete, failed: broke };
}

const bytesOf = (...blocks: Buffer[]): string => Buffer.concat(blocks).toString();

describe("a Responses stream passes unchanged, and", () => {
  test.each([
    ["completed", completed],
    ["incomplete", incomplete],
  ])("ends with %s, which contains its usage, and [DONE]", (_name, last) => {
    const counted = { input: 5, cacheRead: 4, output: 3 };
    const seen = { usage: counted, outputBytes: 8, done: true, complete: true, failed: false };
    const shown = bytesOf(created, delta, textDone, last, done);
    expect(observe(created, delta, textDone, last)).toMatchObject({ ...seen, shown });
    expect(observe(Buffer.concat([created, delta, textDone, last]))).toMatchObject({ ...seen, shown });
    expect(observe(created, delta, textDone, Buffer.concat([last, done]))).toMatchObject({ ...seen, shown });
  });

  test("a last event that lacks its empty line is ended before [DONE]", () => {
    const cut = completed.subarray(0, -2);
    expect(observe(created, cut).shown).toBe(bytesOf(created, completed, done));
  });

  test("is not whole without its end", () => {
    expect(observe(created, delta, textDone)).toMatchObject({ usage: undefined, done: false, complete: false });
  });

  test.each([
    ["failed", failed],
    ["an error", event({ type: "error", code: "server_error", message: "m", param: null })],
    ["an error that is wrapped", event({ type: "error", error: { message: "m" } })],
  ])("has failed with %s", (_name, last) => {
    const shown = bytesOf(created, delta, last);
    expect(observe(created, delta, last)).toMatchObject({ shown, done: true, complete: false, failed: true });
  });

  test("is not ended by a model's text about such events", () => {
    const said = ['{"type":"response.completed"}', '"error"', "data: [DONE]"].map((text) =>
      event({ type: "response.output_text.delta", delta: text }),
    );
    expect(observe(created, ...said)).toMatchObject({ shown: bytesOf(created, ...said), done: false });
  });
});

test("the text of a whole response is measured", () => {
  const output = [
    { type: "message", content: [{ type: "output_text", text: "1234" }] },
    { type: "function_call", arguments: "{}" },
  ];
  expect(responsesCodec.outputBytes(JSON.stringify({ instructions: "long", output }))).toBe(6);
});

test("a broken stream is reported in an event that makes clients throw", () => {
  const told = responsesCodec.errorEvent(new GatewayError("upstream_timeout", "Silent."), "req_1");
  expect(told.startsWith("event: error\ndata: ")).toBe(true);
  expect(JSON.parse(told.slice("event: error\ndata: ".length))).toEqual({
    type: "error",
    code: "upstream_timeout",
    message: "Silent.",
    param: null,
    error: { type: "upstream_error", code: "upstream_timeout", message: "Silent.", param: null },
    sequence_number: 0,
  });
});
