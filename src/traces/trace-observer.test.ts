import { describe, expect, test } from "bun:test";
import type { AttemptReport, WorkReport } from "../charges/index.ts";
import { orderOf, record } from "../charges/__fixtures__/work-scene.ts";
import { GatewayError } from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import { genAiNames } from "./genai-names.ts";
import { TraceObserver } from "./trace-observer.ts";

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  flags: number;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status?: { code: number };
}

/** The clock of the epoch is an hour ahead of the performance clock. */
const HOUR = 3_600_000;

const attempt: AttemptReport = {
  workId: "req_1",
  provider: "up",
  model: "m",
  keyId: "k1",
  attempt: 1,
  status: 200,
  failure: undefined,
  begunAt: 1_010,
  milliseconds: 20,
  retryInMs: undefined,
  unbilled: undefined,
};

function endOf(call: Partial<CallRecord> = {}, more: Partial<WorkReport> = {}): WorkReport {
  return {
    order: orderOf({ id: "req_1", at: HOUR + 1_003 }),
    record: { ...record(), milliseconds: 100, ...call },
    heldMs: 8,
    credits: "0.5",
    unbilled: undefined,
    files: undefined,
    error: undefined,
    ...more,
  };
}

interface SceneOptions {
  sample?: number;
  names?: "latest" | "1.36";
  fraction?: number;
  contentBytesMax?: number;
}

function scene({ sample = 1, names = "latest", fraction = 0.5, contentBytesMax }: SceneOptions = {}) {
  const traces: Span[][] = [];
  const state = { now: 1_100, drawn: 0 };
  const observer = new TraceObserver({
    names: genAiNames[names],
    apiOf: (prefix) => (prefix === "up" ? "xai" : prefix),
    sample,
    contentBytesMax,
    onTrace({ json, count }) {
      const spans = JSON.parse(`[${json}]`) as Span[];
      expect(spans).toHaveLength(count);
      traces.push(spans);
    },
    clock: () => HOUR + state.now,
    randomBytes: (size) =>
      Uint8Array.from({ length: size }, () => (state.drawn = (state.drawn * 1_103_515_245 + 12_345) % 2 ** 31) >>> 16),
    randomFraction: () => fraction,
    now: () => state.now,
  });
  return { observer, traces, state };
}

const attributesOf = (span: Span | undefined): Record<string, unknown> =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

/** From the work's arrival, in milliseconds. */
const timesOf = ({ startTimeUnixNano, endTimeUnixNano }: Span): [number, number] => {
  const from = (text: string): number => Number(BigInt(text) - BigInt(HOUR + 1_000) * 1_000_000n) / 1e6;
  return [from(startTimeUnixNano), from(endTimeUnixNano)];
};

const named = (spans: readonly Span[] | undefined, name: string): Span | undefined =>
  spans?.find((span) => span.name === name);

describe("the trace of a call", () => {
  test("is a server span with the hold, the requests to upstreams, and the settling below it", () => {
    const { observer, traces, state } = scene();
    const failed = { ...attempt, failure: "overloaded", status: 503 } as const;
    observer.attempted(failed);
    observer.attempted({ ...attempt, provider: "other", model: "n", attempt: 2, begunAt: 1_040 });
    const usage = { input: 10, cacheRead: 4, cacheWrite5m: 3, output: 5, reasoning: 2 };
    observer.ended(endOf({ usage, streamed: true, millisecondsToFirstByte: 70 }));
    expect(traces).toEqual([]);
    state.now += 5;
    observer.committed({ id: "req_1", shortfall: 0n });
    const [spans = []] = traces;
    expect(spans.map((span) => [span.name, span.kind, ...timesOf(span)])).toEqual([
      ["hold", 1, 3, 8],
      ["chat m", 3, 10, 30],
      ["chat n", 3, 40, 100],
      ["settle", 1, 100, 105],
      ["chat", 2, 0, 105],
    ]);
    const server = spans[4];
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
    expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual([
      ...Array.from({ length: 4 }, () => server?.spanId),
      undefined,
    ]);
    expect(attributesOf(server)).toEqual({
      "tollgate.request_id": "req_1",
      "tollgate.operation": "chat",
      "user.id": "u",
      "tollgate.token_id": "t1",
      "tollgate.dialect": "chat",
      "http.response.status_code": "200",
      "tollgate.outcome": "complete",
      "tollgate.credits": 0.5,
      "tollgate.requested_model": "alias/m",
    });
    expect([
      spans[1]?.status,
      attributesOf(spans[1])["error.type"],
      attributesOf(spans[1])["gen_ai.usage.input_tokens"],
    ]).toEqual([{ code: 2 }, "overloaded", undefined]);
    expect(attributesOf(spans[2])).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "other",
      "gen_ai.request.model": "n",
      "tollgate.provider": "other",
      "tollgate.key_id": "k1",
      "tollgate.attempt": "2",
      "http.response.status_code": "200",
      "gen_ai.usage.input_tokens": "17",
      "gen_ai.usage.output_tokens": "7",
      "gen_ai.usage.cache_read.input_tokens": "4",
      "gen_ai.usage.cache_write.input_tokens": "3",
      "gen_ai.usage.reasoning.output_tokens": "2",
      "gen_ai.usage.cost": 0.5,
      "gen_ai.request.stream": true,
      "gen_ai.response.time_to_first_chunk": 0.03,
    });
  });

  test("has no id of an upstream that is long or no id", () => {
    for (const id of ["x".repeat(10_000), "with\nlines", "req-1"]) {
      const { observer, traces } = scene();
      observer.ended(endOf({ upstreamRequestId: id }));
      observer.committed({ id: "req_1", shortfall: 0n });
      const found = attributesOf(named(traces[0], "chat"))["tollgate.upstream_request_id"];
      expect(found).toBe(id === "req-1" ? id : undefined);
    }
  });

  test("has the names of version 1.36 if they are wanted", () => {
    const { observer, traces } = scene({ names: "1.36" });
    observer.attempted(attempt);
    observer.ended(endOf({ usage: { input: 1, cacheRead: 1, output: 1 }, streamed: true, millisecondsToFirstByte: 1 }));
    observer.committed({ id: "req_1", shortfall: 0n });
    const span = named(traces[0], "chat m");
    expect(Object.keys(attributesOf(span)).filter((name) => name.startsWith("gen_ai"))).toEqual([
      "gen_ai.operation.name",
      "gen_ai.system",
      "gen_ai.request.model",
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.cost",
    ]);
    expect(attributesOf(span)["gen_ai.system"]).toBe("xai");
  });

  test("continues that of its caller, who decides whether there is one", () => {
    const { observer, traces } = scene({ sample: 0 });
    const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true, state: "x=1" };
    const order = { ...orderOf({ id: "req_1" }), trace };
    observer.ended(endOf({}, { order }));
    observer.committed({ id: "req_1", shortfall: 0n });
    const server = named(traces[0], "chat");
    expect(server).toMatchObject({
      traceId: trace.traceId,
      parentSpanId: trace.spanId,
      traceState: "x=1",
      flags: 0x301,
    });
    expect(named(traces[0], "settle")).toMatchObject({
      traceId: trace.traceId,
      parentSpanId: server?.spanId,
      flags: 0x101,
    });
    const always = scene();
    always.observer.ended(endOf({}, { order: { ...order, trace: { ...trace, isSampled: false } } }));
    always.observer.committed({ id: "req_1", shortfall: 0n });
    expect(always.traces).toEqual([]);
  });

  test("that fails has its error; the usage without a request of this process is the server span's", () => {
    const { observer, traces } = scene();
    const error = new GatewayError("upstream_timeout", "a message");
    observer.ended(endOf({ outcome: "failed", status: 503, usage: { input: 3 } }, { error }));
    observer.committed({ id: "req_1", shortfall: 0n });
    const server = named(traces[0], "chat");
    expect(server?.status).toEqual({ code: 2 });
    expect(attributesOf(server)).toMatchObject({
      "error.type": "upstream_timeout",
      "gen_ai.usage.input_tokens": "3",
    });
    expect(JSON.stringify(traces)).not.toContain("a message");
  });

  test("that the ledger refuses is a server span and the hold", () => {
    const { observer, traces, state } = scene();
    observer.refused(orderOf({ at: HOUR + 1_050, arrivedAt: 1_040 }), new GatewayError("insufficient_credits", "m"));
    expect(traces[0]?.map((span) => [span.name, span.status?.code, ...timesOf(span)])).toEqual([
      ["hold", 2, 50, 100],
      ["chat", 2, 40, 100],
    ]);
    expect(state.now).toBe(1_100);
  });

  test("is left out by the share that is not sampled", () => {
    for (const [sample, count] of [
      [0.6, 1],
      [0.5, 0],
      [0, 0],
    ] as const) {
      const { observer, traces } = scene({ sample });
      observer.ended(endOf());
      observer.committed({ id: "req_1", shortfall: 0n });
      expect(traces).toHaveLength(count);
    }
  });
});

describe("content", () => {
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content: "a secret" }] }));
  const answer = { id: "a", choices: [{ index: 0, message: { content: "an answer" }, finish_reason: "stop" }] };

  function traced(options: Parameters<typeof scene>[0], order = orderOf({ id: "req_1" })) {
    const { observer, traces } = scene(options);
    const sink = observer.open(order, body);
    sink?.add(Buffer.from(JSON.stringify(answer)));
    observer.attempted(attempt);
    observer.ended(endOf({}, { order }));
    // Of a client that reads on, after the end.
    sink?.add(Buffer.from("late"));
    observer.committed({ id: "req_1", shortfall: 0n });
    return { sink, spans: traces.flat() };
  }

  test("is in the span of the request that was answered, if it is wanted", () => {
    const { spans } = traced({ contentBytesMax: 1_000 });
    const { "gen_ai.input.messages": input, "gen_ai.output.messages": output } = attributesOf(named(spans, "chat m"));
    expect([String(input), String(output)].map((text) => JSON.parse(text) as unknown)).toEqual([
      [{ role: "user", parts: [{ type: "text", content: "a secret" }] }],
      [{ role: "assistant", parts: [{ type: "text", content: "an answer" }], finish_reason: "stop" }],
    ]);
    expect(JSON.stringify(spans.filter(({ name }) => name !== "chat m"))).not.toContain("secret");
  });

  test.each<[string, Parameters<typeof scene>[0], ReturnType<typeof orderOf>]>([
    ["nobody wants it", {}, orderOf({ id: "req_1" })],
    ["the call is not sampled", { contentBytesMax: 1_000, sample: 0 }, orderOf({ id: "req_1" })],
    [
      "its caller does not trace it",
      { contentBytesMax: 1_000 },
      { ...orderOf({ id: "req_1" }), trace: { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: false } },
    ],
    ["it is no text generation", { contentBytesMax: 1_000 }, { ...orderOf({ id: "req_1" }), dialect: undefined }],
  ])("is not taken if %s", (_, options, order) => {
    const { sink, spans } = traced(options, order);
    expect(sink).toBeUndefined();
    expect(JSON.stringify(spans)).not.toContain("secret");
  });

  test("of work that never ends is bounded", () => {
    const { observer, traces } = scene({ contentBytesMax: 1_000 });
    for (let index = 0; index < 100; index += 1)
      observer.open(orderOf({ id: `req_${index}` }), Buffer.alloc(1024 * 1024 - 1))?.add(Buffer.from("x"));
    observer.open(orderOf({ id: "req_large" }), Buffer.alloc(1024 * 1024 + 1))?.add(Buffer.alloc(1024 * 1024 + 1));
    observer.ended(endOf({}, { order: orderOf({ id: "req_large" }) }));
    observer.ended(endOf({}, { order: orderOf({ id: "req_0" }) }));
    for (const id of ["req_large", "req_0"]) observer.committed({ id, shortfall: 0n });
    const cut = traces.map((spans) => attributesOf(named(spans, "chat"))["tollgate.content_cut"]);
    expect(cut).toEqual([true, undefined]);
  });
});

describe("the memory", () => {
  test("of a trace whose end is not durable is handed over without it, after a while or at the end", () => {
    const { observer, traces, state } = scene();
    observer.ended(endOf());
    observer.handOver();
    expect(traces).toHaveLength(0);
    state.now += 5_000;
    observer.ended(endOf({}, { order: orderOf({ id: "req_2" }) }));
    observer.handOver();
    expect(traces).toHaveLength(1);
    expect(named(traces[0], "settle")).toBeUndefined();
    observer.committed({ id: "req_1", shortfall: 0n });
    expect(traces).toHaveLength(1);
    observer.handOver(true);
    expect(traces).toHaveLength(2);
  });

  test("is bounded: works that never end, attempts of one work, ends that are never durable", () => {
    const { observer, traces } = scene();
    for (let work = 0; work < 20_000; work += 1) observer.attempted({ ...attempt, workId: `left_${work}` });
    for (let number = 1; number <= 1_000; number += 1)
      observer.attempted({ ...attempt, attempt: number, failure: number === 1_000 ? undefined : "overloaded" });
    observer.ended(endOf());
    observer.committed({ id: "req_1", shortfall: 0n });
    const spans = traces[0] ?? [];
    expect(spans).toHaveLength(32 + 3);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(attributesOf(spans[32])["tollgate.attempt"]).toBe("1000");
    traces.length = 0;
    for (let work = 0; work < 6_000; work += 1) observer.ended(endOf({}, { order: orderOf({ id: `late_${work}` }) }));
    expect(traces).toHaveLength(1_000);
  });
});
