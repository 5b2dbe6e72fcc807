/** Postgres goes away, or is late: refused quickly, back by itself, and nothing that was owed is lost. */
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EndJournal, openWork, Work, type WorkOrder } from "../../src/charges/index.ts";
import { GatewayError } from "../../src/core/index.ts";
import { type Account, type Hold, Ledger, type LedgerStore, openLedgerStore } from "../../src/ledger/index.ts";
import { PriceBook } from "../../src/pricing/index.ts";
import type { PostgresStorage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { Ticker } from "../../src/streaming/index.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { until } from "../kit/until.ts";

const account: Account = {
  id: "user:u",
  kind: "user",
  name: "u",
  parentId: undefined,
  prepaid: true,
  maxBudget: undefined,
  period: undefined,
};
const granted = 1_000_000n;

let server: PostgresServer;
let url: string;
let storage: PostgresStorage;
let store: LedgerStore;
let ledger: Ledger;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async () => {
  url = await server.createDatabase();
  storage = await openPostgres();
  store = openLedgerStore(storage);
  ledger = new Ledger({ store });
  await store.putAccount(account, 1);
  await ledger.submit({ kind: "grant", id: "g", accountId: account.id, amount: granted, at: 1 });
});
afterEach(() => storage.close());

async function openPostgres(): Promise<PostgresStorage> {
  const opened = await openStorage(url);
  if (opened.engine !== "postgres") throw new Error(`${url} is no Postgres`);
  return opened;
}

const hold = (id: string): Hold => ({
  kind: "hold",
  id,
  accountId: account.id,
  amount: 10n,
  operation: "chat",
  provider: "up",
  model: "m",
  dialect: undefined,
  streamed: false,
  at: 1,
  leaseUntil: 9,
});

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${JSON.stringify(reason)}`);
  return reason;
}

async function held(id: string): Promise<boolean> {
  const { outcome } = await ledger.submit(hold(id)).catch(() => ({ outcome: "refused" }));
  return outcome === "held" || outcome === "exists";
}

async function counters() {
  const [state] = await store.chain(account.id, 1);
  return { charged: state?.debitsPosted, held: state?.debitsPending };
}

describe("a server that is down", () => {
  test("refuses holds at once with 503, and takes them again when it is back", async () => {
    await ledger.submit(hold("before"));
    await server.crash();
    const begun = performance.now();
    const refusals = await Promise.all(["a", "b", "c"].map((id) => refusalOf(ledger.submit(hold(id)))));
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ code: "storage_unavailable", status: 503, retryAfterSeconds: 1 });
    expect(await refusalOf(store.chain(account.id, 1))).toMatchObject({ code: "storage_unavailable" });
    // Not after the two seconds in which a connection is tried.
    expect(performance.now() - begun).toBeLessThan(1_900);

    await server.start();
    await until("holds are taken again", () => held("after"));
    expect(await ledger.submit({ kind: "settle", id: "before", amount: 7n, at: 2 })).toMatchObject({
      outcome: "settled",
    });
    expect(await counters()).toEqual({ charged: 7n, held: 10n });
    expect((await store.audit()).drifts).toEqual([]);
  });

  test("loses no settlement and no release: they are tried again until they are taken, once", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-journal-"));
    const ticker = new Ticker(50, Date.now);
    const unsettled = new Map();
    const prices = new PriceBook({
      operatorPrices: { "up/*": { input_mtok: 1, output_mtok: 2 } },
      unpriced: "refuse",
      clock: () => 0,
    });
    const price = prices.lookup({ id: "up/m", model: "m", priceProvider: undefined });
    if (price === undefined) throw new Error("no price");
    const deps = {
      ledger,
      ticker,
      clock: Date.now,
      openAnswers: { add: () => undefined, remove: () => undefined },
      onUnsettled: () => undefined,
      unsettled,
      journal: new EndJournal(directory),
      observer: {},
    };
    const open = async (id: string): Promise<Work> => {
      const order: WorkOrder = {
        id,
        principal: { user: account.name, tokenId: "t", accountId: account.id, rates: undefined },
        operation: "chat",
        dialect: "chat",
        source: { provider: "up", model: "m", modelId: "up/m" },
        price,
        bound: { inputTokens: 100, outputTokens: 50, choices: 1 },
        streamed: false,
        at: 1,
      };
      const work = await openWork(deps, order);
      if (!(work instanceof Work)) throw new Error("a replay");
      return work;
    };
    const usage = { input: 10, output: 5 };
    const [settled, released] = [await open("settled"), await open("released")];

    await server.crash();
    await Promise.all([
      settled.end({ status: 200, outcome: "complete", observed: { usage } }),
      released.end({ status: 502, outcome: "interrupted" }),
    ]);
    expect(unsettled.size).toBe(2);
    expect(readdirSync(directory).filter((name) => name.endsWith(".journal"))).toHaveLength(1);

    await server.start();
    await until("nothing is held any more", async () => (await counters().catch(() => undefined))?.held === 0n, 10_000);
    expect(await counters()).toEqual({ charged: 20_000n, held: 0n });
    expect(await store.audit()).toMatchObject({ entries: 3, openHolds: 0, drifts: [] });
    await until("nothing is owed any more", () => unsettled.size === 0);
    // Its entries are gone, and so is its file.
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
    ticker.stop();
  });
});

test("connections that are cut in the middle of commits lose nothing and charge nothing twice", async () => {
  const calls = 300;
  const cut = async (): Promise<void> => {
    for (let times = 0; times < 5; times += 1) {
      const mine =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%ledger_commit%' AND pid <> pg_backend_pid()";
      const cutter = await openPostgres();
      await cutter.statements.run(mine);
      await cutter.close();
    }
  };
  /** Until it is accepted: an operation committed with a lost answer returns `exists`. */
  const insist = async (operation: Parameters<Ledger["submit"]>[0]): Promise<string> => {
    for (;;) {
      const result = await ledger.submit(operation).catch(() => undefined);
      if (result !== undefined) return result.outcome;
      await Bun.sleep(1);
    }
  };
  const load = Array.from({ length: calls }, async (_, index) => {
    await Bun.sleep(index);
    expect(["held", "exists"]).toContain(await insist(hold(`c${index}`)));
    expect(["settled", "exists"]).toContain(await insist({ kind: "settle", id: `c${index}`, amount: 3n, at: 2 }));
  });
  await Promise.all([...load, cut()]);
  expect(await counters()).toEqual({ charged: 3n * BigInt(calls), held: 0n });
  expect(await store.audit()).toMatchObject({ entries: calls + 1, openHolds: 0, drifts: [] });
});

test("a server that hangs causes refusals, then at once, and is used when it continues", async () => {
  const ids = server.processIds();
  for (const id of ids) process.kill(id, "SIGSTOP");
  try {
    expect((await refusalOf(ledger.submit(hold("first")))).code).toBe("storage_unavailable");
    // One asks whether it is back; the others don't wait for the answer.
    const asking = refusalOf(ledger.submit(hold("asking")));
    const asked = performance.now();
    expect((await refusalOf(ledger.submit(hold("second")))).code).toBe("storage_unavailable");
    expect(performance.now() - asked).toBeLessThan(2_000);
    expect((await asking).code).toBe("storage_unavailable");
  } finally {
    for (const id of ids) process.kill(id, "SIGCONT");
  }
  await until("holds are taken again", () => held("third"), 10_000);
  expect((await store.audit()).drifts).toEqual([]);
});

test("a process that stands still, if only just started, does not take that for the storage's silence", async () => {
  const fresh = await openPostgres();
  const lookup = fresh.statements.run<{ one: number }>("SELECT 1 AS one");
  const commit = openLedgerStore(fresh).commit([hold("a")]);
  // Longer than an answer is waited for.
  Bun.sleepSync(3_000);
  expect(await lookup).toEqual([{ one: 1 }]);
  expect(await commit).toEqual([{ outcome: "held" }]);
  await fresh.close();
});

describe("look-ups that wait for a lock on every connection that they may use", () => {
  let holder: SQL;
  let failures: unknown[];
  let ended: Promise<unknown>;

  beforeEach(async () => {
    holder = new SQL(url, { max: 1 });
    await holder.unsafe("BEGIN");
    await holder.unsafe("SELECT pg_advisory_xact_lock(1)");
    failures = [];
    // More than the number of connections, so that some wait for others.
    const lookups = Array.from({ length: 8 }, () =>
      storage.statements
        .run("SELECT pg_advisory_xact_lock_shared(1)")
        .catch((reason: unknown) => failures.push(reason)),
    );
    ended = Promise.all(lookups);
  });

  const letGo = () => holder.close({ timeout: 0 });

  afterEach(letGo);

  const isLate = (reason: unknown): boolean =>
    reason instanceof GatewayError && reason.cause instanceof Error && reason.cause.message.startsWith("no answer");

  test("hold up no commit", async () => {
    let isOver = false;
    const over = ended.then(() => (isOver = true));
    expect(await ledger.submit(hold("a"))).toEqual({ outcome: "held" });
    expect({ isOver, failures }).toEqual({ isOver: false, failures: [] });
    await letGo();
    await over;
  });

  test("fail neither a commit nor a look-up that came after them when they are late", async () => {
    // The server ends the first ones; the others have waited as long, and go on waiting.
    await until("the first ones have failed", () => failures.length > 0, 10_000);
    const later = storage.statements.run<{ one: number }>("SELECT 1 AS one");
    // Sequentially, so that one is always running.
    const commits: string[] = [];
    while (!failures.some(isLate)) commits.push((await ledger.submit(hold(`h${commits.length}`))).outcome);
    expect(new Set(commits)).toEqual(new Set(["held"]));
    await letGo();
    expect(await later).toEqual([{ one: 1 }]);
    await ended;
  });
});
