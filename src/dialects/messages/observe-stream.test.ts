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
  return { usage: usage?.usage, uncounted: usage?.uncounted, outputBytes, done, complete, failed };
}

describe("a Messages stream passes unchanged, and", () => {
  test("its usage is that of both its events", () => {
    const seen = { usage: { input: 9, output: 4 }, outputBytes: 8, done: true, complete: true, failed: false };
    expect(observe(start, text, delta, stop)).toMatchObject(seen);
    expect(observe(Buffer.concat([start, text, delta, stop]))).toMatchObject(seen);
  });

  test("its output is not counted as long as it lacks its end", () => {
    const begun = { usage: { input: 9 }, uncounted: ["output"], complete: false };
    expect(observe(start)).toMatchObject(begun);
    expect(observe(start, text)).toMatchObject(begun);
  });

  test.each([null, "4", 1.5, -4])("its output is not counted by %p, nor by that of the start", (output) => {
    const end = event({ type: "message_delta", delta: {}, usage: { output_tokens: output } } as never);
    expect(observe(start, text, end, stop)).toMatchObject({ usage: { input: 9 }, uncounted: ["output"] });
  });

  test("has the figures of its start if it stops without others, zeros included (recording 2786)", () => {
    const none = event({ type: "message_start", message: { usage: { input_tokens: 0, output_tokens: 0 } } } as never);
    expect(observe(none)).toMatchObject({ usage: { input: 0 }, uncounted: ["output"], done: false });
    expect(observe(none, stop)).toMatchObject({ usage: { input: 0, output: 0 }, done: true });
    expect(observe(start, stop)).toMatchObject({ usage: { input: 9, output: 1 } });
    expect(observe(start, text, stop)).toMatchObject({ usage: { input: 9 }, uncounted: ["output"] });
    const unknown = event({ type: "message_start", message: {} } as never);
    expect(observe(unknown, stop)).toMatchObject({ usage: undefined });
  });

  test("counts neither quotations nor results of tools as its text (recording 2612)", () => {
    const citation = { type: "char_location", cited_text: 'the "page" ]}', document_index: 0 };
    const cited = event({ type: "content_block_delta", delta: { type: "citations_delta", citation } } as never);
    const content = [{ type: "text", text: "Tool echo: hello world" }];
    const result = event({ type: "content_block_start", content_block: { type: "mcp_tool_result", content } } as never);
    expect(observe(start, result, cited, text)).toMatchObject({ outputBytes: 8 });
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
