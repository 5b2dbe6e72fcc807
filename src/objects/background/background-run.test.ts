/** The bounds of a response in the background, on fake time: an hour, 8 MiB of events, ten minutes. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openStorage } from "../../../test/kit/storage.ts";
import { CallAborter, type JsonObject, limits } from "../../core/index.ts";
import type { Storage } from "../../storage/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { openResponseStore } from "../responses/sql/open.ts";
import { BackgroundRun } from "./background-run.ts";
import { openBackgroundStore } from "./sql/open.ts";
import type { BackgroundResponse } from "./store.ts";

const HOUR_MS = 3_600_000;
const TEN_MINUTES_MS = 600_000;
const MEBIBYTE = 1024 * 1024;

let storage: Storage;
let now: number;
let tick: () => void;
let ticker: Ticker;
beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  now = 1_000_000;
  ticker = new Ticker(100, () => now, {
    every: (_ms, onTick) => {
      tick = onTick;
      return () => undefined;
    },
  });
});
afterEach(() => storage.close());

const key = { id: "resp_1", owner: "alice" };
const inProgress = { id: key.id, object: "response", status: "in_progress", model: "m", output: [] };

/** Lets promises and streams go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(milliseconds: number): Promise<void> {
  now += milliseconds;
  tick();
  await settle();
}

/** A run whose events the test sends, and whose record is stored once its response has begun. */
async function start() {
  const background = openBackgroundStore(storage);
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => undefined };
  const abort = new CallAborter();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  // As the pipeline does, whose stream ends with its call.
  abort.signal.addEventListener("abort", { handleEvent: () => void writer.abort(abort.signal.reason) });
  const run = new BackgroundRun(
    { background, responses: openResponseStore(storage), work: { clock: () => now }, ticker, logger },
    {
      running: { id: "req_1" },
      queued: undefined,
      answering: Promise.resolve({ status: 200, headers: {}, body: readable }),
      abort,
      leave: () => undefined,
    },
  );
  const ended = run.run();
  const send = async (event: JsonObject): Promise<void> => {
    await writer.write(Buffer.from(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`));
    await settle();
  };
  await send({ type: "response.created", sequence_number: 0, response: inProgress });
  const response = (await run.opened) as JsonObject;
  const record: BackgroundResponse = {
    ...key,
    workId: "req_1",
    provider: "p",
    model: "m",
    previousId: undefined,
    input: "[]",
    response,
    isCancelled: false,
    createdAt: now,
    endedAt: undefined,
    keptUntil: now + 2 * HOUR_MS,
  };
  await background.insert(record);
  run.keep(record);
  await settle();
  const complete = async (number: number): Promise<void> => {
    const completed = { ...inProgress, status: "completed" };
    await send({ type: "response.completed", sequence_number: number, response: completed });
    await writer.close();
    await ended;
  };
  return { background, abort, ended, send, complete };
}

const eventsIn = (batches: readonly { events: string }[]): JsonObject[] =>
  batches.flatMap(({ events }) => events.split("\n")).map((line) => JSON.parse(line) as JsonObject);

describe("a response in the background", () => {
  test("runs for an hour, and has failed then", async () => {
    const { background, abort, ended } = await start();
    await pass(HOUR_MS - 1);
    expect(abort.signal.aborted).toBe(false);
    expect(await background.stateOf(key)).toBe("running");
    await pass(1);
    expect(abort.signal.aborted).toBe(true);
    await ended;
    const record = await background.find(key, now);
    expect(record?.response).toMatchObject({ status: "failed", error: { code: "upstream_timeout" } });
    expect(eventsIn(await background.eventsAfter(key, -1)).at(-1)).toMatchObject({ type: "response.failed" });
  });

  test("that ends in time has no limit any more", async () => {
    const { abort, complete, background } = await start();
    await pass(HOUR_MS - 1);
    await complete(1);
    await pass(HOUR_MS);
    expect(abort.signal.aborted).toBe(false);
    expect((await background.find(key, now - HOUR_MS))?.response).toMatchObject({ status: "completed" });
  });

  test("keeps 8 MiB of events, and its last one beyond", async () => {
    const { background, send, complete } = await start();
    for (let number = 1; number <= 12; number += 1) {
      await send({ type: "response.output_text.delta", sequence_number: number, delta: "x".repeat(MEBIBYTE) });
      await pass(100);
    }
    await complete(13);
    const kept: JsonObject[] = [];
    for (let after = -1; ; after = Number(kept.at(-1)?.["sequence_number"])) {
      const batches = await background.eventsAfter(key, after);
      if (batches.length === 0) break;
      kept.push(...eventsIn(batches).filter(({ sequence_number: number }) => Number(number) > after));
    }
    const bytes = kept.slice(0, -1).reduce((sum, event) => sum + JSON.stringify(event).length, 0);
    expect(bytes).toBeLessThanOrEqual(limits.backgroundEventsBytesMax);
    expect(bytes).toBeGreaterThan(limits.backgroundEventsBytesMax - 2 * MEBIBYTE);
    expect(kept.at(-1)).toMatchObject({ type: "response.completed", sequence_number: 13 });
  });

  test("is kept with its events until ten minutes after its end", async () => {
    const { background, complete } = await start();
    await complete(1);
    const endedAt = now;
    expect(await background.find(key, endedAt + TEN_MINUTES_MS - 1)).toMatchObject({ endedAt });
    await background.deleteExpired(endedAt + TEN_MINUTES_MS - 1);
    expect((await background.eventsAfter(key, -1)).length).toBeGreaterThan(0);
    expect(await background.find(key, endedAt + TEN_MINUTES_MS)).toBeUndefined();
    await background.deleteExpired(endedAt + TEN_MINUTES_MS);
    expect(await background.eventsAfter(key, -1)).toEqual([]);
    expect(await openResponseStore(storage).find(key.id, key.owner, endedAt + TEN_MINUTES_MS)).toBeDefined();
  });
});
