import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import { GatewayError } from "../core/index.ts";
import { MemoryBudget, Ticker, type Watched } from "../streaming/index.ts";
import { readBody } from "./read-body.ts";

const bytesMax = 100;
const arrivalMsMax = 5_000;

let now = 0;
let ticker: Ticker;
const budget = new MemoryBudget(2 * 1024 * 1024);

beforeEach(() => {
  jest.useFakeTimers();
  now = 0;
  ticker = new Ticker(1_000, () => now);
});
afterEach(() => {
  ticker.stop();
  jest.useRealTimers();
});

const read = async (request: Request): Promise<Uint8Array> =>
  readBody(request, { bytesMax, arrivalMsMax, ticker }, budget.share());

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

function post(body: string | ReadableStream<Uint8Array> | undefined, headers: Record<string, string> = {}): Request {
  return new Request("http://gateway.example/", { method: "POST", headers, ...(body === undefined ? {} : { body }) });
}

/** A body that arrives in these pieces, and counts the requested ones. */
function inPieces(
  pieces: readonly string[],
  taken: { count: number },
  cancelled?: () => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[taken.count];
        if (piece === undefined) return controller.close();
        taken.count += 1;
        controller.enqueue(Buffer.from(piece));
      },
      cancel: () => cancelled?.(),
    },
    { highWaterMark: 0 },
  );
}

describe("a body within the bound", () => {
  test("of a declared length is read", async () => {
    expect(Buffer.from(await read(post("hello", { "content-length": "5" }))).toString()).toBe("hello");
  });

  test("without a length is read, piece by piece", async () => {
    const body = inPieces(["hel", "l", "o"], { count: 0 });
    expect(Buffer.from(await read(post(body))).toString()).toBe("hello");
  });

  test("of exactly the bound is read", async () => {
    const text = "x".repeat(bytesMax);
    expect(await read(post(text, { "content-length": `${bytesMax}` }))).toHaveLength(bytesMax);
    expect(await read(post(inPieces([text], { count: 0 })))).toHaveLength(bytesMax);
  });

  test("that is missing is empty", async () => {
    expect(await read(post(undefined))).toHaveLength(0);
  });
});

describe("a body over the bound", () => {
  test("is refused by its declared length, before any of it is read", async () => {
    const taken = { count: 0 };
    const request = post(inPieces(["x"], taken), { "content-length": `${bytesMax + 1}` });
    expect(await refusalOf(read(request))).toMatchObject({ code: "body_too_large", status: 413 });
    expect(taken.count).toBe(0);
  });

  test("without a length is refused as soon as it exceeds the bound, and the remainder is not read", async () => {
    const taken = { count: 0 };
    let cancelled = false;
    const pieces = Array.from({ length: 1_000 }, () => "x".repeat(40));
    const request = post(inPieces(pieces, taken, () => (cancelled = true)));
    const error = await refusalOf(read(request));
    expect(error).toMatchObject({ code: "body_too_large", status: 413 });
    expect(error.message).toContain(String(bytesMax));
    expect(taken.count).toBeLessThan(10);
    expect(cancelled).toBe(true);
  });
});

describe("a body that does not arrive", () => {
  const stalled = (): Request =>
    post(new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from("half")) }));

  test("is refused with 408 after its time-out, and not before", async () => {
    let settled = false;
    const refusal = refusalOf(read(stalled())).finally(() => {
      settled = true;
    });
    now = arrivalMsMax - 1;
    jest.advanceTimersByTime(1_000);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(settled).toBe(false);
    now = arrivalMsMax;
    jest.advanceTimersByTime(1_000);
    expect(await refusal).toMatchObject({ code: "request_timeout", status: 408 });
  });

  test("completely is the client's fault: 400", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Buffer.from("half"));
        controller.error(new Error("connection reset"));
      },
    });
    expect(await refusalOf(read(post(body)))).toMatchObject({ code: "request_interrupted", status: 400 });
  });

  test.each([
    ["arrives after all", () => post(inPieces(["hel", "lo"], { count: 0 }))],
    ["is too long", () => post(inPieces(["x".repeat(bytesMax + 1)], { count: 0 }))],
  ])("leaves no timer behind when it %s", async (_title, request) => {
    const waiting: Watched[] = [];
    const watch = ticker.watch.bind(ticker);
    ticker.watch = (watched) => {
      waiting.push(watched);
      watch(watched);
    };
    const reading = read(request());
    expect(waiting.map(({ slot }) => slot)).toEqual([0]);
    await reading.catch(() => undefined);
    expect(waiting.map(({ slot }) => slot)).toEqual([-1]);
  });
});
