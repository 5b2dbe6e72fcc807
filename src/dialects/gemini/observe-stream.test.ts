import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../core/index.ts";
import { GeminiStreamObserver } from "./observe-stream.ts";

/** The members that a provider reads the usage from: the observer's whole task. */
function billed(answer: JsonObject) {
  const candidates = answer["candidates"] as JsonObject[] | undefined;
  const metadata = answer["usageMetadata"] as JsonObject | undefined;
  if (metadata === undefined && candidates === undefined) return undefined;
  const searches = (candidates ?? []).map(
    (one) => (one["groundingMetadata"] as { webSearchQueries: unknown[] }).webSearchQueries.length,
  );
  return { usage: { input: metadata?.["promptTokenCount"], output: metadata?.["candidatesTokenCount"], searches } };
}

type Read = ConstructorParameters<typeof GeminiStreamObserver>[0];
const observer = () => new GeminiStreamObserver(billed as unknown as Read);
const event = (chunk: object, spaces?: number) =>
  Buffer.from(
    `data: ${JSON.stringify(chunk, null, spaces).replaceAll("\n", spaces === undefined ? "\n" : "\ndata: ")}\r\n\r\n`,
  );
const text = (value: string, more: object = {}) => ({
  candidates: [{ content: { parts: [{ text: value }] }, ...more }],
});
const figures = (output: number) => ({
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: output, totalTokenCount: 10 + output },
});

/** The usage after these events, however they arrive. */
function usageOf(events: readonly Buffer[]): unknown[] {
  const [apart, together, asked] = [observer(), observer(), observer()];
  for (const one of events) apart.see(one);
  together.see(Buffer.concat(events));
  for (const one of events) {
    asked.see(one);
    void asked.usage;
  }
  return [apart, together, asked].map(({ usage }) => usage?.usage);
}

const all = (expected: object) => [expected, expected, expected];

describe("an event without figures keeps the earlier ones", () => {
  const call = (args: object) => ({ candidates: [{ content: { parts: [{ functionCall: { name: "f", args } }] } }] });
  test.each<[string, object]>([
    ["a text with the word", text('"usageMetadata"')],
    ["a text that is the word", text("usageMetadata")],
    ["an argument of that name", call({ usageMetadata: 1 })],
    ["arguments that look like figures", call(figures(1))],
    ["no counts", { ...text("b"), usageMetadata: {} }],
    ["counts of zero", { ...text("b"), usageMetadata: { promptTokenCount: 0, totalTokenCount: 0 } }],
    ["other members", { ...text("b"), usageMetadata: { trafficType: "ON_DEMAND" } }],
    ["a list", { ...text("b"), usageMetadata: [{ promptTokenCount: 1 }] }],
    ["a text in its place", { ...text("b"), usageMetadata: "promptTokenCount" }],
  ])("%s", (_title, chunk) => {
    const first = event({ ...text("a"), ...figures(500) });
    expect(usageOf([first, event(chunk)])).toEqual(all({ input: 10, output: 500, searches: [] }));
    expect(usageOf([first, event(chunk, 1)])).toEqual(all({ input: 10, output: 500, searches: [] }));
    const later = event({ ...text("c"), ...figures(501) }, 2);
    expect(usageOf([first, event(chunk), later])).toEqual(all({ input: 10, output: 501, searches: [] }));
  });
});

test("the last figures count, in any order of their members", () => {
  const odd = { ...text("b"), usageMetadata: { thoughtsTokenCount: 1, promptTokenCount: 11, candidatesTokenCount: 2 } };
  expect(usageOf([event({ ...text("a"), ...figures(1) }), event(odd)])).toEqual(
    all({ input: 11, output: 2, searches: [] }),
  );
  expect(usageOf([event(odd), event({ ...figures(3), ...text("a") })])).toEqual(
    all({ input: 10, output: 3, searches: [] }),
  );
});

test("the searches of each candidate count once, and add up", () => {
  const searched = (index: number, ...webSearchQueries: string[]) =>
    event(text("a", { index, groundingMetadata: { webSearchQueries } }));
  expect(
    usageOf([
      searched(0, "a"),
      event({ ...text("x"), ...figures(4) }),
      searched(1, "c", "d", "e"),
      searched(0, "a", "b"),
      searched(1, "e"),
    ]),
  ).toEqual(all({ input: 10, output: 4, searches: [2, 3] }));
});

test("text after the last figures is counted by its bytes", () => {
  const stream = observer();
  stream.see(event({ ...text("a"), ...figures(5) }));
  expect(stream.outputBytesSinceUsage).toBe(0);
  stream.see(event(text("four")));
  stream.see(event({ ...text("five!"), usageMetadata: {} }));
  expect([stream.outputBytes, stream.outputBytesSinceUsage]).toEqual([10, 9]);
  stream.see(event({ ...text("six"), ...figures(9) }));
  expect([stream.usage?.usage.output, stream.outputBytesSinceUsage]).toEqual([9, 0]);
});

test("a reason ends it, and an error fails it; the same words in a text do neither", () => {
  const stream = observer();
  stream.see(event(text('"finishReason":"STOP"')));
  stream.see(event(text("an error")));
  stream.see(event(text("finishReason")));
  expect([stream.complete, stream.failed, stream.done]).toEqual([false, false, false]);
  stream.see(event({ error: { code: 503 } }));
  expect([stream.complete, stream.failed]).toEqual([false, true]);
  stream.see(event(text("", { finishReason: "STOP" })));
  expect(stream.complete).toBe(true);
  const blocked = observer();
  blocked.see(event({ promptFeedback: { blockReason: "SAFETY" } }));
  expect(blocked.complete).toBe(true);
});
