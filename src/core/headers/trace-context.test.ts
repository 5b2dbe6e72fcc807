import { expect, test } from "bun:test";
import { traceContextOf } from "./trace-context.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const span = "00f067aa0ba902b7";

const contextOf = (traceparent: string, tracestate?: string) =>
  traceContextOf(new Headers({ traceparent, ...(tracestate !== undefined && { tracestate }) }));

test("a traceparent names the caller's span, and whether it is recorded", () => {
  expect(contextOf(`00-${trace}-${span}-01`)).toEqual({ traceId: trace, spanId: span, isSampled: true });
  expect(contextOf(`00-${trace}-${span}-02`)).toMatchObject({ isSampled: false });
  expect(contextOf(`00-${trace}-${span}-03`, "a=1,b=2")).toMatchObject({ isSampled: true, state: "a=1,b=2" });
  // A later version may have more.
  expect(contextOf(`cc-${trace}-${span}-01-what-comes`)).toMatchObject({ traceId: trace });
});

test.each<[string, string]>([
  ["nothing", ""],
  ["no trace id", `00-${"0".repeat(32)}-${span}-01`],
  ["no span id", `00-${trace}-${"0".repeat(16)}-01`],
  ["the version that is none", `ff-${trace}-${span}-01`],
  ["capitals", `00-${trace.toUpperCase()}-${span}-01`],
  ["a short trace id", `00-${trace.slice(1)}-${span}-01`],
  ["more than its version has", `00-${trace}-${span}-01-more`],
  ["two of them", `00-${trace}-${span}-01, 00-${trace}-${span}-01`],
  ["a long tail", `cc-${trace}-${span}-01-${"x".repeat(10_000)}`],
])("%s is no trace", (_, traceparent) => {
  expect(contextOf(traceparent)).toBeUndefined();
});

test("a tracestate that is too long is left out, and one alone is no trace", () => {
  expect(contextOf(`00-${trace}-${span}-01`, `a=${"x".repeat(600)}`)).not.toHaveProperty("state");
  expect(traceContextOf(new Headers({ tracestate: "a=1" }))).toBeUndefined();
});
