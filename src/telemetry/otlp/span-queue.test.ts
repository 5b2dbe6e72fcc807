import { afterEach, describe, expect, test } from "bun:test";
import type { Server } from "bun";
import { until } from "../../../test/kit/until.ts";
import { OtlpEndpoint } from "./endpoint.ts";
import { SpanQueue } from "./span-queue.ts";
import { attribute, nanoseconds, resourceJson } from "./values.ts";

interface Received {
  path: string;
  headers: Headers;
  body: { resourceSpans: { resource: object; scopeSpans: { scope: object; spans: { n: number }[] }[] }[] };
}

let server: Server<undefined> | undefined;
let queue: SpanQueue | undefined;
afterEach(async () => {
  await server?.stop(true);
  await queue?.close();
  [server, queue] = [undefined, undefined];
});

/** A collector that gives the next of some answers, and the last one from then on. */
function scene(answers: (() => Response)[] = [() => Response.json({})]) {
  const received: Received[] = [];
  const lines: object[] = [];
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as Received["body"];
      received.push({ path: new URL(request.url).pathname, headers: request.headers, body });
      return ((answers.length > 1 ? answers.shift() : answers[0]) ?? (() => Response.json({})))();
    },
  });
  const state = { now: 0 };
  const endpoint = new OtlpEndpoint({
    signal: "traces",
    url: `${server.url.origin}/v1/traces`,
    headers: { authorization: "Basic x" },
    timeoutMs: 200,
    fetch: (url, init) => fetch(url, init),
    logger: { info: (fields) => void lines.push(fields), warn: (fields) => void lines.push(fields) },
  });
  const resource = {
    version: "1.2.3",
    instance: "h:1",
    attributes: { "service.name": "own", "deployment.environment": "x" },
  };
  const spans = new SpanQueue({ endpoint, resource, everyMs: 60_000, now: () => state.now });
  queue = spans;
  const numbers = (): number[][] =>
    received.map(({ body }) => body.resourceSpans[0]?.scopeSpans[0]?.spans.map(({ n }) => n) ?? []);
  return {
    spans,
    received,
    lines,
    state,
    numbers,
    add: (n: number, more = "") => spans.add({ json: `{"n":${n}${more}}`, count: 1 }),
  };
}

test("spans are sent in one request, with the process that they are of", async () => {
  const { spans, received, add, numbers } = scene();
  add(1);
  add(2);
  await spans.send();
  await spans.send();
  expect(numbers()).toEqual([[1, 2]]);
  expect([
    received[0]?.path,
    received[0]?.headers.get("authorization"),
    received[0]?.headers.get("content-type"),
  ]).toEqual(["/v1/traces", "Basic x", "application/json"]);
  expect(received[0]?.body.resourceSpans[0]).toMatchObject({
    resource: {
      attributes: [
        { key: "service.name", value: { stringValue: "own" } },
        { key: "service.version", value: { stringValue: "1.2.3" } },
        { key: "service.instance.id", value: { stringValue: "h:1" } },
        { key: "deployment.environment", value: { stringValue: "x" } },
      ],
    },
    scopeSpans: [{ scope: { name: "tollgate", version: "1.2.3" } }],
  });
  expect([spans.sent, spans.dropped]).toEqual([2, 0]);
});

describe("a collector", () => {
  test.each<[string, () => Response]>([
    ["that is busy", () => new Response("", { status: 503 })],
    ["that is too slow", () => new Response(new ReadableStream({ pull: () => Bun.sleep(60_000) }))],
  ])("%s gets the same spans again, in order, after a while", async (_, answer) => {
    const { spans, lines, state, add, numbers } = scene([answer, () => Response.json({})]);
    add(1);
    await spans.send();
    add(2);
    await spans.send();
    expect(numbers()).toEqual([[1]]);
    state.now += 1_000;
    await spans.send();
    expect(numbers()).toEqual([[1], [1, 2]]);
    expect([spans.sent, spans.dropped, lines.length]).toEqual([2, 0, 2]);
  });

  test("that asks for time gets it, a minute at most", async () => {
    const headers = { "retry-after": "30" };
    const { spans, state, add, numbers } = scene([
      () => new Response("", { status: 429, headers }),
      () => Response.json({}),
    ]);
    add(1);
    await spans.send();
    state.now += 29_000;
    await spans.send();
    expect(numbers()).toHaveLength(1);
    state.now += 1_000;
    await spans.send();
    expect(numbers()).toHaveLength(2);
  });

  test("that refuses spans, all or some, does not get them again", async () => {
    const { spans, add, numbers } = scene([
      () => new Response("no such path", { status: 404 }),
      () => Response.json({ partialSuccess: { rejectedSpans: "1", errorMessage: "no" } }),
    ]);
    add(1);
    await spans.send();
    add(2);
    add(3);
    await spans.send();
    expect(numbers()).toEqual([[1], [2, 3]]);
    expect([spans.sent, spans.dropped]).toEqual([1, 2]);
  });

  test("whose answer does not end is not read to its end", async () => {
    const written = { bytes: 0 };
    const endless = new ReadableStream({
      async pull(controller) {
        written.bytes += 16_384;
        controller.enqueue(new Uint8Array(16_384));
        await Bun.sleep(1);
      },
    });
    const { spans, add } = scene([() => new Response(endless)]);
    add(1);
    await spans.send();
    expect(spans.sent).toBe(1);
    expect(written.bytes).toBeLessThan(4 * 1024 * 1024);
  });

  test("that is away costs bounded memory, counted drops, and two lines in the log", async () => {
    const { spans, lines, state, add, numbers } = scene();
    const port = server?.port ?? 0;
    await server?.stop(true);
    const text = `,"text":"${"x".repeat(100_000)}"`;
    for (let n = 0; n < 200; n += 1) add(n, text);
    for (let turn = 0; turn < 5; turn += 1) {
      state.now += 60_000;
      await spans.send();
    }
    expect(spans.dropped).toBe(200 - 83);
    expect(spans.sent).toBe(0);
    expect(lines).toHaveLength(1);
    const received: number[] = [];
    server = Bun.serve({
      port,
      hostname: "127.0.0.1",
      async fetch(request) {
        const body = (await request.json()) as Received["body"];
        received.push(...(body.resourceSpans[0]?.scopeSpans[0]?.spans.map(({ n }) => n) ?? []));
        return Response.json({});
      },
    });
    state.now += 60_000;
    await spans.send();
    expect(received).toEqual(Array.from({ length: 83 }, (_, n) => n));
    expect([spans.sent, spans.dropped, lines.length]).toEqual([83, 117, 2]);
    expect(numbers()).toEqual([]);
  });
});

test("many spans are sent before the next turn, in requests of about a mebibyte", async () => {
  const { spans, add, received } = scene();
  for (let n = 0; n < 25; n += 1) add(n, `,"text":"${"x".repeat(100_000)}"`);
  await until("all are sent", () => spans.sent === 25);
  expect(received.length).toBeGreaterThan(1);
});

test("values: texts are escaped, integers are texts, times are exact to the nanosecond", () => {
  expect(JSON.parse(attribute("k", 'a"\n'))).toEqual({ key: "k", value: { stringValue: 'a"\n' } });
  expect(JSON.parse(attribute("k", 3))).toEqual({ key: "k", value: { intValue: "3" } });
  expect(JSON.parse(attribute("k", 0.5))).toEqual({ key: "k", value: { doubleValue: 0.5 } });
  expect(JSON.parse(attribute("k", Number.NaN))).toEqual({ key: "k", value: { doubleValue: 0 } });
  expect(JSON.parse(attribute("k", false))).toEqual({ key: "k", value: { boolValue: false } });
  expect([nanoseconds(1_763_000_000_000), nanoseconds(1_763_000_000_000.5)]).toEqual([
    "1763000000000000000",
    "1763000000000500000",
  ]);
  expect(
    () => JSON.parse(resourceJson({ version: "1", instance: 'a"b', attributes: { 'x"': "\\" } })) as unknown,
  ).not.toThrow();
});

test("spans that are handed over for a request are sent once, however many they are", async () => {
  const posted: string[] = [];
  let left = 40;
  const spans: SpanQueue = new SpanQueue({
    endpoint: {
      post(body) {
        posted.push(body);
        return Promise.resolve({ kind: "taken", rejected: 0 });
      },
    },
    resource: { version: "1", instance: "h:1", attributes: {} },
    everyMs: 60_000,
    onSend() {
      while (left > 0) {
        left -= 1;
        spans.add({ json: `{"n":${left},"text":"${"x".repeat(100_000)}"}`, count: 1 });
      }
    },
  });
  queue = spans;
  await spans.send();
  const numbers = posted.flatMap((body) => [...body.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n)));
  expect(numbers).toEqual(Array.from({ length: 40 }, (_, n) => 39 - n));
  expect([spans.sent, spans.dropped]).toEqual([40, 0]);
});
