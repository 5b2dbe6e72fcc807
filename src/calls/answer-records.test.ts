import { describe, expect, test } from "bun:test";
import { type JsonObject, limits, type ObservedUsage, type StoredObject } from "../core/index.ts";
import { responsesCodec, responsesRequest } from "../dialects/index.ts";
import type { StreamObserver } from "../streaming/index.ts";
import { captureRecords, type RecordCapture } from "./answer-records.ts";

const message = { type: "message", id: "msg_1" };
const response = { id: "resp_1", object: "response", status: "completed", output: [message] };
const eventOf = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const began = eventOf({ type: "response.created", response: { ...response, status: "in_progress", output: [] } });
const added = eventOf({ type: "response.output_item.added", item: message });
const delta = eventOf({ type: "response.output_text.delta", delta: '"response.completed", she said' });
const lastOf = (type: string): string => eventOf({ type, response });
const request = responsesRequest.parse({ model: "openai/m", input: "hi", stream: true });

/** A capture of one answer, and what it saved. */
function scene() {
  const saved: { responses: JsonObject[]; objects: StoredObject[]; keyIds: string[] } = {
    responses: [],
    objects: [],
    keyIds: [],
  };
  const created = responsesCodec.objects.created(request);
  if (created === undefined) throw new Error("an answer of Responses creates objects");
  const capture = captureRecords({
    objects: {
      created,
      known: () => Promise.resolve([]),
      record(objects, keyId) {
        saved.objects.push(...objects);
        saved.keyIds.push(keyId);
        return Promise.resolve();
      },
    },
    storeResponse(answer, keyId) {
      saved.responses.push(answer);
      saved.keyIds.push(keyId);
      return Promise.resolve();
    },
  });
  return { capture, saved };
}

const observing = (capture: RecordCapture): StreamObserver =>
  capture.observe(responsesCodec.observe(request, () => undefined));
const see = (observer: StreamObserver, text: string): string => observer.see(Buffer.from(text)).toString();

describe("of a stream", () => {
  test.each(["response.completed", "response.incomplete"])("the response is that of %s", async (type) => {
    const { capture, saved } = scene();
    const observer = observing(capture);
    expect(see(observer, began)).toBe(began);
    expect(see(observer, delta)).toBe(delta);
    see(observer, lastOf(type));
    await capture.save("key-1");
    expect(saved.responses).toEqual([response]);
    expect(saved.keyIds).toEqual(["key-1", "key-1"]);
  });

  test("every byte is returned as by its observer, also from one block", async () => {
    const { capture, saved } = scene();
    const last = lastOf("response.completed");
    expect(see(observing(capture), began + last)).toBe(`${began}${last}data: [DONE]\n\n`);
    await capture.save("k");
    expect(saved.responses).toEqual([response]);
  });

  test("the first response counts", async () => {
    const { capture, saved } = scene();
    const observer = observing(capture);
    see(observer, lastOf("response.completed"));
    see(observer, eventOf({ type: "response.completed", response: { ...response, id: "resp_2" } }));
    await capture.save("k");
    expect(saved.responses).toEqual([response]);
  });

  test.each([
    ["failed", eventOf({ type: "response.failed", response: { ...response, status: "failed" } })],
    ["broke off", delta],
    ["ended with an error", eventOf({ type: "error", code: "server_error", message: '"response.completed"' })],
  ])("that %s, the objects are recorded, and no response", async (_title, end) => {
    const { capture, saved } = scene();
    see(observing(capture), began + added + end);
    await capture.save("k");
    expect(saved).toEqual({ responses: [], objects: [{ kind: "item", id: "msg_1" }], keyIds: ["k"] });
  });

  test("the bytes that come after the upstream has closed, or broken off, are read", async () => {
    const usage: ObservedUsage = { usage: { input: 1 } };
    const late: StreamObserver = {
      see: (block) => block,
      close: () => Buffer.from(lastOf("response.completed")),
      heldBack: () => Buffer.from(added),
      usage,
      outputBytes: 7,
      done: false,
      failed: true,
      complete: false,
    };
    const { capture, saved } = scene();
    const observer = capture.observe(late);
    const { outputBytes, done, complete, failed } = observer;
    expect([observer.usage, outputBytes, done, complete, failed]).toEqual([usage, 7, false, false, true]);
    expect(observer.heldBack?.().toString()).toBe(added);
    await capture.save("k");
    expect([saved.responses, saved.objects.length]).toEqual([[], 1]);
    expect(observer.close?.().toString()).toBe(lastOf("response.completed"));
    await capture.save("k");
    expect(saved.responses).toEqual([response]);
  });
});

test("a whole answer is the response, and its items are recorded once", async () => {
  const { capture, saved } = scene();
  capture.readWhole(JSON.stringify({ ...response, output: [message, message] }));
  await capture.save("k");
  expect([saved.responses.length, saved.objects]).toEqual([1, [{ kind: "item", id: "msg_1" }]]);
});

test("the number of recorded objects is bounded", async () => {
  const { capture, saved } = scene();
  const output = Array.from({ length: limits.createdObjectsMax + 5 }, (_, index) => ({ id: `msg_${index}` }));
  capture.readWhole(JSON.stringify({ ...response, output }));
  await capture.save("k");
  expect(saved.objects.length).toBe(limits.createdObjectsMax);
});
