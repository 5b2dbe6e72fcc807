import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, limits, type ObservedUsage } from "../core/index.ts";
import {
  credits,
  failed,
  heldByOrder,
  orderOf,
  refusalOf,
  settled,
  tickMs,
  WorkScene,
} from "./__fixtures__/work-scene.ts";
import type { ParkedWork } from "./parked-work.ts";
import type { ParkedJob } from "../ledger/index.ts";
import { keepAnswer } from "./retry/keep-answer.ts";
import { openWork } from "./open-work.ts";
import { resumeWork } from "./resume-work.ts";
import { Work } from "./work.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

const observed: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;
const last = () => scene.store.taken.at(-1);

describe("the end of work", () => {
  test("charges it, stores its record, and notifies the observer", async () => {
    const work = await scene.open({ streamed: true, parent: "session_1" });
    await work.end(settled(observed));
    const record = {
      parent: "session_1",
      owner: "u",
      operation: "chat",
      dialect: "chat",
      provider: "up",
      model: "m",
      streamed: true,
      status: 200,
      outcome: "complete",
      usage: observed.usage,
      startedAt: scene.now,
    };
    expect(last()).toMatchObject({ kind: "settle", amount: cost, record });
    expect(scene.ended).toMatchObject([{ order: { id: "req_1" }, record, credits: "0.00002", error: undefined }]);
    expect(scene.committed).toEqual([{ id: "req_1", shortfall: 0n }]);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("records an id of the upstream only of a bounded length, which an index takes", async () => {
    for (const [id, upstreamRequestId] of [
      ["short", "short"],
      ["x".repeat(3_000), undefined],
    ] as const) {
      const work = await scene.open({ id: `req_${id.length}` });
      work.asked.upstreamRequestId = id;
      await work.end(failed);
      expect(last()).toMatchObject({ record: { upstreamRequestId } });
    }
  });

  test("without usage releases the hold, with a record all the same", async () => {
    const work = await scene.open();
    const error = new GatewayError("upstream_unreachable", "no way");
    await work.end({ status: 502, outcome: "interrupted", error });
    expect(last()).toMatchObject({ kind: "release", record: { status: 502, outcome: "interrupted", usage: {} } });
    expect(scene.ended).toMatchObject([{ credits: "0", error: { code: "upstream_unreachable" } }]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("counts once: the first one", async () => {
    const work = await scene.open();
    await Promise.all([work.end(settled(observed)), work.end(failed), work.end(settled({ usage: { input: 99 } }))]);
    expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant", "hold", "settle"]);
    expect(scene.ended).toHaveLength(1);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("reaches the observer before it is durable, and its commit afterwards, with the unpaid cost", async () => {
    const work = await scene.open();
    const ending = work.end(settled({ usage: { input: 2_000 } }));
    expect([scene.ended.length, scene.committed.length]).toEqual([1, 0]);
    await ending;
    expect(scene.committed).toEqual([{ id: "req_1", shortfall: 2_000_000n - credits }]);
  });

  test("whose commit's answer was lost reaches the observer once, when it is found there", async () => {
    const work = await scene.open();
    scene.store.loses = true;
    await work.end(settled({ usage: { input: 2_000 } }));
    expect(scene.committed).toEqual([]);
    scene.store.loses = false;
    await scene.tick(tickMs);
    await scene.tick(tickMs);
    expect(scene.committed).toEqual([{ id: "req_1", shortfall: 2_000_000n - credits }]);
  });
});

test("a refusal reaches the observer", async () => {
  await refusalOf(scene.open({ bound: { inputTokens: 2_000, outputTokens: 50, choices: 1 } }));
  expect(scene.refused).toEqual(["insufficient_credits"]);
});

test("the time to the first byte is counted from the request's arrival", async () => {
  const work = await scene.open({ arrivedAt: performance.now() - 500 });
  work.firstByte();
  expect(work.costOf(observed)).toBe(cost);
  await work.end(settled(observed));
  const [report] = scene.ended;
  expect(report?.record.millisecondsToFirstByte).toBeGreaterThanOrEqual(500);
  expect(report?.record.milliseconds).toBeGreaterThanOrEqual(report?.record.millisecondsToFirstByte ?? Infinity);
});

describe("a series of works with the same parent", () => {
  test("holds the next one before the last one ends, each recorded with the series", async () => {
    const first = await scene.open({ id: "req_1", parent: "session_1" });
    const second = await scene.open({ id: "req_2", parent: "session_1" });
    expect(await scene.balances()).toEqual({ charged: 0n, held: 2n * heldByOrder });
    await first.end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: heldByOrder });
    await second.end(settled(observed));
    expect(scene.ended.map(({ record }) => record.parent)).toEqual(["session_1", "session_1"]);
    expect(await scene.balances()).toEqual({ charged: 2n * cost, held: 0n });
  });
});

const hour = 3_600_000;
let stored: string;
const save = (parked: ParkedWork): Promise<void> => {
  stored = JSON.stringify(parked);
  return Promise.resolve();
};
/** The row of a job with what was parked. */
const jobOf = (parked: ParkedWork): ParkedJob => {
  stored = JSON.stringify(parked);
  return { id: parked.id, kind: "k", owner: "u", payload: { parked }, runAt: scene.now, createdAt: scene.now };
};
const resume = () => resumeWork(scene.deps, JSON.parse(stored) as ParkedWork);
const sweep = () => scene.ledger.submit({ kind: "sweep", at: scene.now });
const jobsOf = () =>
  scene.storage.handle.query<{ id: string; payload: string }, []>("SELECT id, payload FROM jobs").all();

type Parking = (work: Work, until: number) => Promise<void>;

describe.each<[string, Parking]>([
  ["in one commit with its job's row", (work, until) => work.park(until, jobOf)],
  ["for a job whose row is elsewhere", (work, until) => work.handOver(until, save)],
])("work that is parked %s", (_title, park) => {
  test("outlives its process's lease, and is resumed and charged once, at the price of its order", async () => {
    const work = await scene.open();
    await park(work, scene.now + hour);
    expect(await scene.store.openHolds()).toMatchObject([{ id: "req_1", keeper: "job", leaseUntil: scene.now + hour }]);
    scene.now += 10 * limits.holdLeaseMs;
    await sweep();
    expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });

    const resumed = resume();
    await scene.tick(limits.holdLeaseMs);
    // The lease is the job's: the process that resumed the work renews nothing.
    expect(scene.store.taken.filter(({ kind }) => kind === "renew" || kind === "park")).toHaveLength(1);
    await resumed.end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(scene.ended).toMatchObject([{ order: { source: { modelId: "alias/m" } }, record: { owner: "u" } }]);
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
  });

  test("has the job's lease, even if a renewal was due during the hand-over", async () => {
    const work = await scene.open();
    scene.now += limits.holdLeaseMs / 4;
    const until = scene.now + hour;
    const parking = park(work, until);
    await scene.tick(0);
    await parking;
    await scene.tick(limits.holdLeaseMs);
    expect(await scene.store.openHolds()).toMatchObject([{ keeper: "job", leaseUntil: until }]);
  });

  test("is topped up by the process that resumed it", async () => {
    await park(await scene.open(), scene.now + hour);
    const resumed = resume();
    const seen: ObservedUsage = { usage: { input: 190 } };
    resumed.meter(
      () => seen,
      () => undefined,
    );
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(2n * heldByOrder);
    await resumed.end(settled(seen));
    expect(await scene.balances()).toEqual({ charged: 190_000n, held: 0n });
  });

  test("is never free if its job is lost: the whole hold is charged, and a late end corrects that", async () => {
    await park(await scene.open(), scene.now + hour);
    scene.now += hour + 1;
    await sweep();
    expect(await scene.balances()).toEqual({ charged: heldByOrder, held: 0n });
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
  });

  test("is charged in full if its job is lost, even if its cost so far was read", async () => {
    const work = await scene.open();
    work.meter(
      () => observed,
      () => undefined,
    );
    await scene.tick(limits.holdLeaseMs / 4);
    await park(work, scene.now + hour);
    scene.now += hour + 1;
    await sweep();
    expect(await scene.balances()).toEqual({ charged: heldByOrder, held: 0n });
  });

  const working = () => {
    const work = resume();
    work.meter(
      () => ({ usage: { input: 190 } }),
      () => undefined,
    );
    return work;
  };

  test("that was resumed takes no second hold: one that expired, or was ended by another run, stays ended", async () => {
    await park(await scene.open(), scene.now + hour);
    scene.now += hour + 1;
    await sweep();
    const first = working();
    await scene.tick(tickMs);
    await scene.tick(limits.holdLeaseMs);
    expect(await scene.balances()).toEqual({ charged: heldByOrder, held: 0n });
    await working().end(settled(observed));
    await scene.tick(tickMs);
    await first.end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(scene.committed).toHaveLength(1);
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
  });

  test("that a run detaches from is no longer followed by that run", async () => {
    await park(await scene.open(), scene.now + hour);
    const left = working();
    left.leave();
    await scene.tick(tickMs);
    expect(await scene.held()).toBe(heldByOrder);
    await left.end(failed);
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("whose hold was about to be taken again leaves no hold without an owner", async () => {
    const work = await scene.open();
    scene.now += limits.holdLeaseMs + 1;
    await sweep();
    const ticking = scene.tick(tickMs);
    await park(work, scene.now + hour);
    await ticking;
    const holds = await scene.store.openHolds();
    expect(holds).toMatchObject([{ id: "req_1:again", keeper: "job" }]);
    expect((JSON.parse(stored) as ParkedWork).reserves).toEqual(["req_1:again"]);
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("is not ended by the process that parked it, even if the end comes during parking", async () => {
    const work = await scene.open();
    const parking = park(work, scene.now + hour);
    const ending = work.end(settled(observed));
    await parking;
    await ending;
    await work.end(failed);
    expect(await scene.store.openHolds()).toMatchObject([{ keeper: "job" }]);
    expect(scene.ended).toEqual([]);
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });
});

describe("work that is handed over after its data was stored", () => {
  test("stays open in its process if its data cannot be saved, and is swept like any other", async () => {
    const work = await scene.open();
    const parking = work.handOver(scene.now + hour, () => Promise.reject(new Error("the store is away")));
    expect(String(await parking.catch(String))).toContain("the store is away");
    expect(await scene.store.openHolds()).toMatchObject([
      { keeper: "process", leaseUntil: scene.now + limits.holdLeaseMs },
    ]);
    await work.end(failed);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("whose process died between saving and hand-over costs nothing by itself, and its job can end it", async () => {
    const work = await scene.open();
    const { failure } = scene.store;
    await work.handOver(scene.now + hour, (parked) => {
      scene.store.failure = new Error("killed");
      return save(parked);
    });
    scene.store.failure = failure;
    scene.now += limits.holdLeaseMs + 1;
    await sweep();
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("is the job's once it is saved: a hand-over that the store did not accept follows", async () => {
    const work = await scene.open();
    await work.handOver(scene.now + hour, (parked) => {
      scene.store.failure = new Error("away");
      return save(parked);
    });
    await work.end(failed);
    scene.store.failure = undefined;
    await scene.tick(tickMs);
    expect(await scene.store.openHolds()).toMatchObject([{ keeper: "job", leaseUntil: expect.any(Number) as number }]);
    expect(scene.ended).toEqual([]);
  });

  test("may have been ended by its job before the hand-over of the hold", async () => {
    const work = await scene.open();
    await work.handOver(scene.now + hour, async (parked) => {
      await save(parked);
      await resume().end(settled(observed));
    });
    await scene.tick(limits.holdLeaseMs);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(scene.store.taken.filter(({ kind }) => kind === "hold")).toHaveLength(1);
  });

  test("keeps the longest lease that it was given, however late a hand-over arrives", async () => {
    await (await scene.open()).handOver(scene.now + hour, save);
    await resume().handOver(scene.now + 10 * hour, save);
    const late = {
      kind: "renew",
      id: "req_1",
      leaseUntil: scene.now + hour,
      observed: undefined,
      keeper: "job",
    } as const;
    await scene.ledger.submit(late);
    expect(await scene.store.openHolds()).toMatchObject([{ leaseUntil: scene.now + 10 * hour }]);
  });

  test("is ended by an end that came during parking, if parking failed", async () => {
    const work = await scene.open();
    const parking = work.handOver(scene.now + hour, () => Promise.reject(new Error("the store is away")));
    const ending = work.end(settled(observed));
    expect(String(await parking.catch(String))).toContain("the store is away");
    await ending;
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
    expect(scene.ended).toHaveLength(1);
  });
});

describe("work that is parked with its job's row", () => {
  test("is in the row, with the hold that it has then", async () => {
    await (await scene.open({ retry: { key: "k", fingerprint: "f" } })).park(scene.now + hour, jobOf);
    const [row] = jobsOf();
    expect(JSON.parse(row?.payload ?? "")).toEqual({ parked: JSON.parse(stored) as unknown });
    expect(JSON.parse(stored)).toMatchObject({
      id: "req_1",
      reserves: [],
      held: String(heldByOrder),
      retry: { key: "k" },
    });
    expect(scene.store.taken.map(({ kind }) => kind)).toEqual(["grant", "hold", "park"]);
  });

  test("stays open in its process if the store cannot commit: neither the row nor the hold is the job's", async () => {
    const work = await scene.open();
    scene.store.failure = new Error("away");
    expect((await refusalOf(work.park(scene.now + hour, jobOf))).code).toBe("storage_unavailable");
    scene.store.failure = undefined;
    expect(jobsOf()).toEqual([]);
    expect(await scene.store.openHolds()).toMatchObject([{ keeper: "process" }]);
    // Its lease is renewed, and it can be parked still.
    await scene.tick(limits.holdLeaseMs / 4);
    await work.park(scene.now + hour, jobOf);
    expect(await scene.store.openHolds()).toMatchObject([{ keeper: "job", leaseUntil: scene.now + hour }]);
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("is parked once if the answer of the store was lost and it is parked again", async () => {
    const work = await scene.open();
    scene.store.loses = true;
    expect((await refusalOf(work.park(scene.now + hour, jobOf))).code).toBe("storage_unavailable");
    scene.store.loses = false;
    await work.park(scene.now + hour, jobOf);
    expect(jobsOf()).toHaveLength(1);
    await resume().end(settled(observed));
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("costs nothing if the answer of the store was lost and its process gives it up; its job finds it ended", async () => {
    const work = await scene.open({ retry: { key: "k", fingerprint: "f" } });
    scene.store.loses = true;
    const parking = work.park(scene.now + hour, jobOf);
    // An end during parking waits for its outcome.
    const ending = work.end(failed);
    expect((await refusalOf(parking)).code).toBe("storage_unavailable");
    scene.store.loses = false;
    await ending;
    await scene.tick(tickMs);
    expect(jobsOf()).toHaveLength(1);
    await resume().end({ status: 502, outcome: "interrupted", unbilled: observed });
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
    expect(await scene.store.audit()).toMatchObject({ openHolds: 0, drifts: [] });
    // The key is free.
    await (await scene.open({ id: "req_2", retry: { key: "k", fingerprint: "g" } })).end(failed);
  });

  test("is refused if its hold has ended: there is nothing that a job could keep", async () => {
    const work = await scene.open();
    scene.now += limits.holdLeaseMs + 1;
    await sweep();
    expect(String(await work.park(scene.now + hour, jobOf).catch(String))).toContain("ended");
    expect(jobsOf()).toEqual([]);
    await work.end(failed);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });
});

describe("parked work with a retry key", () => {
  const retry = { key: "k", fingerprint: "f" };
  const answer = { status: 200, headers: [["a", "b"]] satisfies [string, string][], body: Uint8Array.of(1) };
  const again = (fingerprint = "f") => openWork(scene.deps, orderOf({ id: "req_2", retry: { key: "k", fingerprint } }));
  const parkedOf = () => JSON.parse(stored) as ParkedWork;

  test("is in use until its answer is kept, and is then answered again while the work goes on, and after it", async () => {
    await (await scene.open({ retry })).park(scene.now + hour, jobOf);
    expect((await refusalOf(again())).code).toBe("idempotency_key_in_use");
    await keepAnswer(scene.deps, parkedOf(), answer);
    expect(await again()).toEqual({ firstId: "req_1", answer });
    expect((await refusalOf(again("g"))).code).toBe("idempotency_key_reused");
    await resume().end(settled(observed));
    expect(await again()).toEqual({ firstId: "req_1", answer });
    scene.now += limits.retryAnswerTtlMs + 1;
    expect(await again()).toBeInstanceOf(Work);
  });

  test("is free again if the work ends without an answer", async () => {
    await (await scene.open({ retry })).park(scene.now + hour, jobOf);
    await resume().end(failed);
    await keepAnswer(scene.deps, parkedOf(), answer);
    expect(await again("g")).toBeInstanceOf(Work);
  });

  test("keeps its first answer, however often it is stored, and for as long as it was told last", async () => {
    await (await scene.open({ retry })).park(scene.now + hour, jobOf);
    await keepAnswer(scene.deps, parkedOf(), answer);
    await keepAnswer(scene.deps, parkedOf(), { ...answer, status: 201 }, scene.now + 3 * limits.retryAnswerTtlMs);
    scene.now += 2 * limits.retryAnswerTtlMs;
    expect(await again()).toEqual({ firstId: "req_1", answer });
  });

  test("needs no store for work without a key", async () => {
    await (await scene.open()).park(scene.now + hour, jobOf);
    await keepAnswer(scene.deps, parkedOf(), answer);
    expect(last()).toMatchObject({ kind: "park" });
  });
});
