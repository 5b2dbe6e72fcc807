import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { credits, heldByOrder, tickMs, WorkScene } from "../../charges/__fixtures__/work-scene.ts";
import { logObserver } from "../../charges/index.ts";
import { type ObservedUsage, type ReplyBody } from "../../core/index.ts";
import { principalOf, targetOf } from "../../sending/__fixtures__/upstreams.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import type { Exchange } from "../exchange.ts";
import type { CallPlan } from "../plan-call.ts";
import { relayReply } from "./relay-reply.ts";
import { runningOn } from "../../charges/shell/__fixtures__/running-on.ts";

let scene: WorkScene;
let logged: [fields: object, message: string][];
let ends: number;
beforeEach(async () => {
  scene = await WorkScene.start();
  logged = [];
  ends = 0;
});
afterEach(() => scene.stop());

const used: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;
const secret = "what was said";

/** Fails on demand, like a bug in a reader. */
class FailingObserver implements StreamObserver {
  fails = false;
  outputBytes = 0;
  done = false;
  complete = false;
  failed = false;
  readonly #usage: ObservedUsage;

  constructor(usage: ObservedUsage) {
    this.#usage = usage;
  }

  see(block: Buffer): Buffer {
    return block;
  }

  get usage(): ObservedUsage {
    if (this.fails) throw new TypeError(secret);
    return this.#usage;
  }
}

/** A call whose upstream has begun a stream, and breaks it off on demand. */
async function begin(observer: StreamObserver) {
  const note = (fields: object, message: string): void => void logged.push([fields, message]);
  const logger = { info: note, warn: note, error: note, flush: () => undefined };
  const work = await scene.open({ streamed: true }, { observer: logObserver(logger) });
  const call = runningOn(scene, work, () => {
    ends += 1;
  });
  const exchange: Exchange = {
    requests: () => [{ subpath: "", body: "{}" }],
    output: { hidesThought: false, isAnswerOnly: false },
    extras: undefined,
    passesThrough: true,
    streamed: true,
    headers: {},
    observe: () => ({ observer, events: { bytesMax: 1_000, errorEvent: () => "data: broken\n\n" } }),
    observeBytes: undefined,
    answer: () => ({ body: "", whole: "" }),
    outputBytes: () => 0,
    failure: (_status, body) => body,
  };
  const incoming = {
    requestId: work.order.id,
    principal: { ...principalOf("u"), accountId: "user:u" },
    headers: new Headers(),
    body: new Uint8Array(),
    client: call.client,
  };
  const plan: CallPlan = {
    order: work.order,
    clientGoneGraceMs: 0,
    incoming,
    target: targetOf("openai/m", ["chat"]),
    exchange,
    records: undefined,
    pinnedKeyId: undefined,
  };
  let breakOff: () => void = () => undefined;
  const body: ReplyBody = {
    flowTo(sink) {
      sink.onBytes(Buffer.from(": begun\n\n"));
      breakOff = () => sink.onFailure(new Error("reset"));
    },
    pause: () => undefined,
    resume: () => undefined,
    cancel: () => undefined,
  };
  const reply = { status: 200, headers: new Headers({ "content-type": "text/event-stream" }), body };
  const send = {
    retries: 0,
    retryAfterMsMax: 0,
    connectMsMax: 10_000,
    firstByteMsMax: 1_000,
    totalMsMax: 1_800_000,
    idleMsMax: 60_000,
  };
  const attempt = { kind: "stream", keyId: "k", attempt: 1, begunAt: 0, headAt: 0 } as const;
  const stream = relayReply({ send, logger }, call, plan, { ...attempt, ...reply })?.body;
  const text = new Response(stream).text();
  return {
    /** The received bytes once the stream has broken off. */
    async end(): Promise<string | undefined> {
      breakOff();
      return text;
    },
  };
}

test("a stream that ends with the credits before any text costs its input", async () => {
  const stream = await begin(new FailingObserver({ usage: { input: 1_100 }, uncounted: ["output"] }));
  // All credits are held then, and used up: the call is aborted, and its upstream's connection with it.
  for (let ticks = 0; ticks < 3; ticks += 1) await scene.tick(tickMs);
  expect(await stream.end()).toBe(": begun\n\ndata: broken\n\n");
  expect(await scene.balances()).toEqual({ charged: credits, held: 0n });
  expect(logged).toMatchObject([
    [{ outcome: "interrupted", error: "insufficient_credits" }, "call"],
    [{ credits: "0.0001" }, "charged less than it cost"],
  ]);
});

describe("a stream whose observer fails", () => {
  test("is charged at the last known usage, and reports the failure once, by its name only", async () => {
    const observer = new FailingObserver(used);
    const stream = await begin(observer);
    await scene.tick(tickMs);
    observer.fails = true;
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    expect(await stream.end()).toBe(": begun\n\ndata: broken\n\n");
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(ends).toBe(1);
    expect(logged).toEqual([
      [{ request_id: "req_1", cause: "TypeError" }, "usage unknown"],
      [expect.objectContaining({ outcome: "interrupted", credits: "0.00002" }), "call"],
    ]);
    expect(JSON.stringify(logged)).not.toContain(secret);
  });

  test("before any usage is known is released", async () => {
    const observer = new FailingObserver(used);
    observer.fails = true;
    const stream = await begin(observer);
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
    await stream.end();
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
    expect(ends).toBe(1);
    expect(logged).toMatchObject([
      [{ cause: "TypeError" }, "usage unknown"],
      [{ credits: "0" }, "call"],
    ]);
  });

  test("or counts units without a price is released too", async () => {
    const stream = await begin(new FailingObserver({ usage: { input: 0.5 } }));
    await scene.tick(tickMs);
    await stream.end();
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
    expect(logged).toMatchObject([
      [{ cause: "RangeError" }, "usage unknown"],
      [{ credits: "0" }, "call"],
    ]);
  });
});
