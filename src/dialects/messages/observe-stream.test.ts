import { describe, expect, test } from "bun:test";
import { clientOf, messagesUpstream } from "../../../test/kit/dialects/contexts.ts";
import { GatewayError } from "../../core/index.ts";
import { messagesCodec, messagesRequest } from "./index.ts";

const request = messagesRequest.parse({
  model: "claude/x",
  max_tokens: 5,
  messages: [{ role: "user", content: "hi" }],
});
const event = (data: object & { type: string }): Buffer =>
  Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);

const start = event({ type: "message_start", message: { usage: { input_tokens: 9, output_tokens: 1 } } } as never);
const text = event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "12345678" } } as never);
const delta = event({
  type: "message_delta",
  delta: { stop_reason: "end_turn" },
  usage: { output_tokens: 4 },
} as never);
const stop = event({ type: "message_stop" });

function observe(...blocks: Buffer[]) {
  const observer = messagesCodec.observe(request, messagesUpstream.readUsage);
  for (const block of blocks) expect(observer.see(block)).toBe(block);
  const { usage, outputBytes, done, complete, failed } = observer;
  return { usage: usage?.usage, outputBytes, done, complete, failed };
}

describe("a Messages stream passes unchanged, and", () => {
  test("its usage is that of both its events", () => {
    const seen = { usage: { input: 9, output: 4 }, outputBytes: 8, done: true, complete: true, failed: false };
    expect(observe(start, text, delta, stop)).toMatchObject(seen);
    expect(observe(Buffer.concat([start, text, delta, stop]))).toMatchObject(seen);
  });

  test("is estimated as long as it lacks its end", () => {
    expect(observe(start)).toMatchObject({ usage: undefined, complete: false });
    expect(observe(start, text)).toMatchObject({ usage: { input: 9, output: 2 }, complete: false });
  });

  test("has the figures of its start if it stops without others, zeros included (recording 2786)", () => {
    const none = event({ type: "message_start", message: { usage: { input_tokens: 0, output_tokens: 0 } } } as never);
    expect(observe(none)).toMatchObject({ usage: undefined, done: false });
    expect(observe(none, stop)).toMatchObject({ usage: { input: 0, output: 0 }, done: true });
    expect(observe(start, stop)).toMatchObject({ usage: { input: 9, output: 1 } });
    // The text that the stream contains counts as output.
    expect(observe(start, text, stop)).toMatchObject({ usage: { input: 9, output: 2 } });
    const unknown = event({ type: "message_start", message: {} } as never);
    expect(observe(unknown, stop)).toMatchObject({ usage: undefined });
  });

  test("is whole once it has stopped", () => {
    expect(observe(start, text, delta)).toMatchObject({ done: false, complete: true });
  });

  test("has failed if the upstream reports it, not if the model writes it", () => {
    const words = event({
      type: "content_block_delta",
      delta: { type: "text_delta", text: '{"type":"error","error":1}' },
    } as never);
    expect(observe(start, words).failed).toBe(false);
    expect(observe(start, event({ type: "error", error: { type: "overloaded_error" } } as never)).failed).toBe(true);
  });
});

test("an error of ours is an event of this dialect's", () => {
  expect(messagesCodec.errorEvent(new GatewayError("upstream_timeout", "Silent."), clientOf().requestId)).toBe(
    'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Silent."},"request_id":"req_1"}\n\n',
  );
});
