import { describe, expect, test } from "bun:test";
import { type CallFile, GatewayError } from "../../core/index.ts";
import { orderOf, record } from "../__fixtures__/work-scene.ts";
import { logObserver } from "./log-observer.ts";
import type { AttemptReport } from "./work-observer.ts";

function lineOf(files: readonly CallFile[]): string {
  const lines: object[] = [];
  const note = (fields: object): void => void lines.push(fields);
  const logger = { info: note, warn: note, error: note, flush: () => undefined };
  logObserver(logger).ended?.({
    order: orderOf(),
    record: record(),
    credits: "0",
    unbilled: undefined,
    files,
    error: undefined,
  });
  return JSON.stringify(lines);
}

function fileOf(name: string): CallFile {
  const read = () => Promise.reject(new Error("a file is not read for the log"));
  return { field: name, filename: name, contentType: name, size: 7, milliseconds: 1_000, read };
}

test("the class of a failed call is that of its last attempt, else whose fault it is", () => {
  const classOf = (of: Parameters<typeof record>[0], error?: GatewayError): unknown => {
    const lines: Record<string, unknown>[] = [];
    const note = (fields: object): void => void lines.push({ ...fields });
    const report = { order: orderOf(), record: record(of), credits: "0", unbilled: undefined, files: undefined, error };
    logObserver({ info: note, warn: note, error: note, flush: () => undefined }).ended?.(report);
    return lines[0]?.["class"];
  };
  const attempt = { number: 1, provider: "up", model: "m", key: "k", startedAt: 0, milliseconds: 1 };
  const attempts = [
    { ...attempt, class: "overloaded" },
    { ...attempt, class: "broken" },
  ];
  expect(classOf({ outcome: "failed", attempts })).toBe("broken");
  expect(classOf({ outcome: "failed" }, new GatewayError("internal_error", "ours"))).toBe("gateway");
  expect(classOf({ outcome: "failed" }, new GatewayError("validation_failed", "theirs"))).toBe("request");
  expect(classOf({ outcome: "abandoned", attempts })).toBeUndefined();
});

test.each(["a\nb", "\u001b[31m", "x".repeat(129), "", "\u202e"])(
  "an upstream's id that is not printable or too long is left out: %j",
  (upstreamRequestId) => {
    const lines: Record<string, unknown>[] = [];
    const note = (fields: object): void => void lines.push({ ...fields });
    const observer = logObserver({ info: note, warn: note, error: note, flush: () => undefined });
    const report = { order: orderOf(), record: record({ upstreamRequestId }), credits: "0", unbilled: undefined };
    observer.ended?.({ ...report, files: undefined, error: undefined });
    expect(lines[0]?.["upstream_request_id"]).toBeUndefined();
  },
);

describe("an attempt", () => {
  const attempt: AttemptReport = {
    workId: "req_1",
    provider: "up",
    model: "m",
    begunAt: 0,
    keyId: "k1",
    attempt: 2,
    status: 429,
    failure: "rate_limited",
    milliseconds: 12.34,
    retryInMs: 250,
    unbilled: "0.5",
  };
  const linesOf = (more: Partial<AttemptReport>): unknown[] => {
    const lines: unknown[] = [];
    const note = (fields: object, message: string): void => void lines.push([message, fields]);
    const logger = { info: note, warn: note, error: note, flush: () => undefined };
    logObserver(logger).attempted?.({ ...attempt, ...more });
    return lines;
  };

  test.each<AttemptReport["failure"]>([
    "key_refused",
    "quota_gone",
    "rate_limited",
    "overloaded",
    "unreachable",
    "broken",
    "no_head",
    "model_gone",
  ])("that failed as %p has a line", (failure) => {
    const line = {
      request_id: "req_1",
      provider: "up",
      key_id: "k1",
      attempt: 2,
      status: 429,
      ms: 12.3,
      retry_in_ms: 250,
      unbilled: "0.5",
    };
    const isOperators = failure === "key_refused" || failure === "quota_gone";
    const message = isOperators ? "the provider refuses the key or its permission" : "attempt failed";
    expect(linesOf({ failure })).toEqual([[message, { ...line, failure }]]);
  });

  test.each([undefined, "request", "context_window", "content_policy", "abandoned"] as const)(
    "that succeeded, or that the call itself is to blame for, has none: %p",
    (failure) => {
      expect(linesOf({ failure })).toEqual([]);
    },
  );
});

test("a cost beyond all available credits has a line, other commits have none", () => {
  const lines: unknown[] = [];
  const note = (fields: object, message: string): void => void lines.push([message, fields]);
  const observer = logObserver({ info: note, warn: note, error: note, flush: () => undefined });
  observer.committed?.({ id: "req_1", shortfall: 0n });
  observer.committed?.({ id: "req_2", shortfall: 1_500_000_000n });
  expect(lines).toEqual([["charged less than it cost", { request_id: "req_2", credits: "1.5" }]]);
});

test("a file's name, type, size and length are logged", () => {
  expect(lineOf([fileOf("a.mp3")])).toContain(
    '"files":[{"field":"a.mp3","name":"a.mp3","type":"a.mp3","bytes":7,"sound_ms":1000}]',
  );
});

test("a thousand files with long names do not make a line of megabytes", () => {
  const line = lineOf(Array.from({ length: 990 }, () => fileOf("x".repeat(4_000))));
  expect(line.length).toBeLessThan(20_000);
  expect(line).toContain('"files_left_out":970');
});
