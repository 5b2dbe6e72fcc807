import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { GatewayError } from "../core/index.ts";
import { createProvider } from "../providers/index.ts";
import { MemoryBudget, Ticker } from "../streaming/index.ts";
import { askByFetch } from "../upstream/index.ts";
import type { WholeAnswer } from "./reply.ts";
import { CallWatchdog } from "../charges/index.ts";
import { readWholeAnswer } from "./whole-answer.ts";

const idleMsMax = 30_000;
const { chat } = createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" }).operations;

let now: number;
let ticker: Ticker;
let abort: AbortController;
let budget: MemoryBudget;

beforeEach(() => {
  jest.useFakeTimers();
  now = 1_000_000;
  ticker = new Ticker(1_000, () => now);
  abort = new AbortController();
  budget = new MemoryBudget(2 * 1024 * 1024);
});
afterEach(() => {
  ticker.stop();
  jest.useRealTimers();
});

async function read(response: Response): Promise<WholeAnswer> {
  if (chat === undefined) throw new Error("no chat");
  const { signal } = abort;
  const url = "https://upstream.example/v1";
  const reply = await askByFetch(() => Promise.resolve(response))({
    url,
    method: "POST",
    headers: new Headers(),
    signal,
  });
  const client = new Request("http://gateway.example");
  return readWholeAnswer(reply, chat, {
    watchdog: new CallWatchdog({ ticker, abort, client, clientGoneGraceMs: 0 }),
    idleMsMax,
    memory: budget.share(),
  });
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

async function tick(milliseconds: number): Promise<void> {
  now += milliseconds;
  jest.advanceTimersByTime(1_000);
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** A body whose pieces the test sends; it breaks off when the call is ended, like a fetched one. */
function dripping(): { body: ReadableStream<Uint8Array>; drip: (text: string) => void; end: () => void } {
  const { promise, resolve } = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started;
      resolve(started);
    },
  });
  void promise.then((started) => abort.signal.addEventListener("abort", () => started.error(abort.signal.reason)));
  return { body, drip: (text) => controller?.enqueue(Buffer.from(text)), end: () => controller?.close() };
}

const answer = `{ "choices":[{"message":{"content":"é🙂"}}],\n "usage":{"prompt_tokens":7,"completion_tokens":11,"total_tokens":18} }`;

test.each([
  [
    "of a declared length",
    () => new Response(answer, { headers: { "content-length": String(Buffer.byteLength(answer)) } }),
  ],
  ["without a length", () => new Response(answer)],
])("an answer %s keeps its bytes and reports its usage", async (_title, response) => {
  const whole = await read(response());
  expect(Buffer.from(whole.bytes).toString()).toBe(answer);
  expect(whole.text).toBe(answer);
  expect(whole.usage?.usage).toMatchObject({ input: 7, output: 11 });
  expect(whole.failed).toBe(false);
});

test("an answer without usage reports none", async () => {
  expect((await read(new Response(`{"choices":[]}`))).usage).toBeUndefined();
});

test("a failure with a success status is detected", async () => {
  const whole = await read(new Response(`{"code":"exhausted","error":"text"}`));
  expect(whole.failed).toBe(true);
  expect(whole.text).toBe(`{"code":"exhausted","error":"text"}`);
});

test("blank lines that kept the connection alive before the answer are removed", async () => {
  expect((await read(new Response(`\n\n\n${answer}`))).usage?.usage).toMatchObject({ input: 7 });
});

test.each([
  ["nothing", ""],
  ["HTML", "<html>502 Bad Gateway</html>"],
  ["half an object", `{"choices":[`],
  ["a list", "[]"],
  ["a text", `"ok"`],
  ["null", "null"],
  ["a stream's event", "data: {}\n\n"],
])("%s is not an answer", async (_title, text) => {
  expect(await refusalOf(read(new Response(text)))).toMatchObject({ code: "upstream_invalid_answer", status: 502 });
});

test("a missing body is not an answer", async () => {
  expect(await refusalOf(read(new Response(null)))).toMatchObject({ code: "upstream_invalid_answer" });
});

describe("an incomplete answer", () => {
  test("breaks off: upstream_interrupted, with the cause for the log", async () => {
    const reset = new Error("connection reset");
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from(`{"choices":`));
        controller.error(reset);
      },
    });
    expect(await refusalOf(read(new Response(body)))).toMatchObject({
      code: "upstream_interrupted",
      status: 502,
      cause: reset,
    });
  });

  test("stalls: upstream_timeout after the idle time-out, which each piece restarts", async () => {
    const { body, drip } = dripping();
    let settled = false;
    const refusal = refusalOf(read(new Response(body))).finally(() => {
      settled = true;
    });
    drip(`{"choices":`);
    await tick(0);
    await tick(idleMsMax - 1);
    drip(`[`);
    await tick(0);
    await tick(idleMsMax - 1);
    expect(settled).toBe(false);
    await tick(1);
    expect(await refusal).toMatchObject({ code: "upstream_timeout", status: 502 });
    expect(abort.signal.aborted).toBe(true);
  });

  test("exceeds the memory for large answers: memory_exhausted, and the remainder is not read", async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(600_000)),
      cancel() {
        cancelled = true;
      },
    });
    expect(await refusalOf(read(new Response(body)))).toMatchObject({ code: "memory_exhausted", status: 503 });
    expect(cancelled).toBe(true);
  });

  test("is ended from outside: the reason of that", async () => {
    const { body, drip } = dripping();
    const refusal = refusalOf(read(new Response(body)));
    drip(`{`);
    await tick(0);
    const gone = new GatewayError("upstream_interrupted", "The client went away.");
    abort.abort(gone);
    expect(await refusal).toBe(gone);
  });
});

test("once the answer is read, silence ends nothing", async () => {
  const { body, drip, end } = dripping();
  const reading = read(new Response(body));
  drip(answer);
  end();
  await reading;
  await tick(10 * idleMsMax);
  expect(abort.signal.aborted).toBe(false);
});
