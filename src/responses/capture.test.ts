import { describe, expect, test } from "bun:test";
import { type ObservedUsage } from "../core/index.ts";
import { responsesCodec, responsesRequest } from "../dialects/index.ts";
import type { StreamObserver } from "../streaming/index.ts";
import { captureFinalResponse, type FinalResponseCapture } from "./capture.ts";

const response = { id: "resp_1", object: "response", status: "completed", output: [{ type: "message", id: "msg_1" }] };
const eventOf = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const created = eventOf({ type: "response.created", response: { ...response, status: "in_progress", output: [] } });
const delta = eventOf({ type: "response.output_text.delta", delta: "response.completed, she said" });
const lastOf = (type: string): string => eventOf({ type, response });

/** A capture around the observer of relayed streams. */
function passing(): FinalResponseCapture {
  const body = responsesRequest.parse({ model: "openai/m", input: "hi", stream: true });
  return captureFinalResponse(responsesCodec.observe(body, () => undefined));
}

const see = (catcher: FinalResponseCapture, text: string): string => catcher.see(Buffer.from(text)).toString();

describe("the response is captured", () => {
  test.each(["response.completed", "response.incomplete"])("from %s, and not before", (type) => {
    const catcher = passing();
    expect(see(catcher, created)).toBe(created);
    expect(see(catcher, delta)).toBe(delta);
    expect(catcher.response).toBeUndefined();
    see(catcher, lastOf(type));
    expect(catcher.response).toEqual(response);
  });

  test("from a block that contains the whole stream", () => {
    const catcher = passing();
    see(catcher, created + delta + lastOf("response.completed"));
    expect(catcher.response).toEqual(response);
  });

  test("and every byte is returned as by its observer", () => {
    const catcher = passing();
    const last = lastOf("response.completed");
    expect(see(catcher, created + last)).toBe(`${created}${last}data: [DONE]\n\n`);
  });

  test("once: later events change nothing", () => {
    const catcher = passing();
    see(catcher, lastOf("response.completed"));
    see(catcher, eventOf({ type: "response.completed", response: { ...response, id: "resp_2" } }));
    expect(catcher.response).toEqual(response);
  });
});

test.each([
  ["failed", eventOf({ type: "response.failed", response: { ...response, status: "failed" } })],
  ["broke off", delta],
  ["ended with an error", eventOf({ type: "error", code: "server_error", message: "response.completed" })],
])("of a stream that %s is not captured", (_title, end) => {
  const catcher = passing();
  see(catcher, created + end);
  catcher.close();
  expect(catcher.response).toBeUndefined();
});

test("that comes only when the upstream has closed is captured as well, and its observer is called", () => {
  const usage: ObservedUsage = { usage: { input: 1 } };
  let complete = false;
  const late: StreamObserver = {
    see: (block) => block,
    close() {
      complete = true;
      return Buffer.from(lastOf("response.completed"));
    },
    usage,
    outputBytes: 7,
    done: false,
    failed: false,
    get complete() {
      return complete;
    },
  };
  const catcher = captureFinalResponse(late);
  expect(see(catcher, delta)).toBe(delta);
  expect([catcher.usage, catcher.outputBytes, catcher.done, catcher.complete, catcher.failed]).toEqual([
    usage,
    7,
    false,
    false,
    false,
  ]);
  expect(catcher.close().toString()).toBe(lastOf("response.completed"));
  expect([catcher.response, catcher.complete]).toEqual([response, true]);
});
