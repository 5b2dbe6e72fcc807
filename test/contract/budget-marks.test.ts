/** The mark of accounts with budgets on either engine: set and taken away beside calls, without a lost or forgotten amount. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  type AccountsDependencies,
  addBudget,
  createToken,
  deleteBudget,
  grantCredits,
} from "../../src/accounts/index.ts";
import { createAccounts } from "../../src/app/accounts.ts";
import { type Hold, openLedgerStore, PostgresLedgerStore } from "../../src/ledger/index.ts";
import type { PostgresStorage, Storage } from "../../src/storage/index.ts";
import { query } from "../kit/engines.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { openStorage } from "../kit/storage.ts";
import { until } from "../kit/until.ts";

const credit = 1_000_000_000n;
const ann = { kind: "user", name: "ann" } as const;
const noon = Date.UTC(2026, 10, 27, 12);

function holdOf(id: string, accountId: string): Hold {
  return {
    kind: "hold",
    id,
    accountId,
    amount: 2n * credit,
    at: noon,
    leaseUntil: noon + 60_000,
    operation: "chat",
    provider: "openai",
    model: "m",
    dialect: "chat",
    streamed: false,
  };
}

interface Scene {
  storage: Storage;
  deps: AccountsDependencies;
  accountId: string;
}

async function sceneOn(storage: Storage): Promise<Scene> {
  const environment = { clock: () => noon, randomBytes: (size: number) => randomBytes(size) };
  const deps = createAccounts(storage, environment, "cli:root");
  await grantCredits(deps, { kind: "organisation", name: "acme" }, 10_000n * credit);
  const { id } = await createToken(deps, { user: "ann", organisation: "acme" });
  return { storage, deps, accountId: `token:${id}` };
}

const commitOn = (storage: Storage, ...operations: Parameters<AccountsDependencies["accounts"]["commit"]>[0]) =>
  openLedgerStore(storage).commit(operations);

async function markOf({ storage }: Scene, id = "user:ann"): Promise<boolean> {
  const [row] = await query<{ has_budgets: bigint | boolean }>(
    storage,
    `SELECT has_budgets FROM accounts WHERE id = '${id}'`,
  );
  return row?.has_budgets === true || row?.has_budgets === 1n;
}

async function expectClean({ storage, deps }: Scene): Promise<void> {
  expect(await deps.accounts.audit()).toMatchObject({ drifts: [], shortfall: 0n });
  const pending = await query<object>(storage, "SELECT id, debits_pending FROM accounts WHERE debits_pending <> 0");
  expect(pending).toEqual([]);
}

const makeBudget = ({ deps }: Scene): Promise<string> =>
  addBudget(deps, ann, { maxBudget: 1_000n * credit }).then(({ budget }) => budget.id);

/** A store needs no more of its connections than to run statements. */
function patientParts(run: object): Pick<PostgresStorage, "statements" | "commits"> {
  return { statements: run, commits: run } as Pick<PostgresStorage, "statements" | "commits">;
}

function describeMarks(name: string, open: () => Promise<Storage>): void {
  describe(`marks on ${name}`, () => {
    let scene: Scene;
    beforeEach(async () => {
      scene = await sceneOn(await open());
    });
    afterEach(() => scene.storage.close());

    const commit = async (operation: Parameters<AccountsDependencies["accounts"]["commit"]>[0][number]) => {
      const [outcome] = await commitOn(scene.storage, operation);
      return outcome?.outcome;
    };

    test("go with the last budget, and calls go on", async () => {
      const [first, second] = [await makeBudget(scene), await makeBudget(scene)];
      expect(await commit(holdOf("one", scene.accountId))).toBe("held");
      await commit({ kind: "settle", id: "one", amount: credit, at: noon });
      await deleteBudget(scene.deps, first);
      expect(await markOf(scene)).toBe(true);
      await deleteBudget(scene.deps, second, { dryRun: true });
      expect(await markOf(scene)).toBe(true);
      await deleteBudget(scene.deps, second);
      expect(await markOf(scene)).toBe(false);
      for (const id of ["two", "three"]) {
        expect(await commit(holdOf(id, scene.accountId))).toBe("held");
        expect(await commit({ kind: "settle", id, amount: credit, at: noon })).toBe("settled");
      }
      await expectClean(scene);
      const again = await makeBudget(scene);
      expect(await markOf(scene)).toBe(true);
      await commit(holdOf("four", scene.accountId));
      await commit({ kind: "settle", id: "four", amount: credit, at: noon });
      const [row] = await query<{ debits_posted: bigint }>(
        scene.storage,
        `SELECT debits_posted FROM accounts WHERE id = 'budget:${again}'`,
      );
      expect(row?.debits_posted).toBe(credit);
    });

    test("stay while a call counts in the budget, and go with a later one", async () => {
      const id = await makeBudget(scene);
      await commit(holdOf("open", scene.accountId));
      await deleteBudget(scene.deps, id);
      expect(await markOf(scene)).toBe(true);
      expect(await commit({ kind: "settle", id: "open", amount: credit, at: noon })).toBe("settled");
      await expectClean(scene);
      await deleteBudget(scene.deps, await makeBudget(scene));
      expect(await markOf(scene)).toBe(false);
    });
  });
}

describeMarks("SQLite", () => openStorage("sqlite::memory:"));

test("that can't be taken away are logged, and the budget is deleted all the same", async () => {
  const scene = await sceneOn(await openStorage("sqlite::memory:"));
  const id = await makeBudget(scene);
  await query(
    scene.storage,
    "CREATE TRIGGER marks BEFORE UPDATE OF has_budgets ON accounts BEGIN SELECT RAISE(FAIL, 'no'); END",
  );
  const warned: object[] = [];
  const logger = { warn: (fields: object) => void warned.push(fields) };
  expect((await deleteBudget({ ...scene.deps, logger }, id)).budget.id).toBe(id);
  expect(warned).toMatchObject([{ budget: id }]);
  expect(await markOf(scene)).toBe(true);
  await scene.storage.close();
});

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
describeMarks("Postgres", async () => openStorage(await postgres.createDatabase()));

describe("on Postgres, beside commits of other nodes", () => {
  test("budgets come and go without a drift", async () => {
    const url = await postgres.createDatabase();
    const scene = await sceneOn(await openStorage(url));
    const nodes = [await openStorage(url), await openStorage(url)];
    const turns = { left: 40 };
    const calls = nodes.map(async (node, index) => {
      for (let count = 0; turns.left > 0; count += 1) {
        const ids = [0, 1, 2].map((each) => `req-${index}-${count}-${each}`);
        const held = await commitOn(node, ...ids.map((id) => holdOf(id, scene.accountId)));
        expect(held.map(({ outcome }) => outcome)).toEqual(["held", "held", "held"]);
        const ends = ids.map((id) => ({ kind: "settle", id, amount: credit, at: noon }) as const);
        expect((await commitOn(node, ...ends)).map(({ outcome }) => outcome)).toEqual([
          "settled",
          "settled",
          "settled",
        ]);
      }
    });
    for (; turns.left > 0; turns.left -= 1) {
      const ids = [await makeBudget(scene), await makeBudget(scene)];
      for (const id of ids) await deleteBudget(scene.deps, id);
    }
    await Promise.all(calls);
    await expectClean(scene);
    await deleteBudget(scene.deps, await makeBudget(scene));
    expect(await markOf(scene)).toBe(false);
    for (const storage of [scene.storage, ...nodes]) await storage.close();
  });

  test("a commit that waits while budgets are made one after the other counts in each that is there before it", async () => {
    // Postgres chooses the next one: mostly the others are made between two tries of the commit, but it may overtake them.
    for (let scenes = 1; ; scenes += 1) {
      const counted = await countedBeside(["budget_0", "budget_1", "budget_2"]);
      expect(counted).toContain("budget:budget_0");
      if (counted.length === 3) return;
      expect(scenes).toBeLessThan(20);
    }
  });

  /** The budgets that a commit counts in, which waits for the first of these to be made; the others are made by then, or later. */
  async function countedBeside(ids: readonly string[]): Promise<string[]> {
    const url = await postgres.createDatabase();
    const scene = await sceneOn(await openStorage(url));
    // Whose statements wait for locks as long as it takes.
    const patient = new Bun.SQL(url, { max: 1, bigint: true });
    const commits = { run: (text: string, values: unknown[] = []) => patient.unsafe(text, values) };
    const node = new PostgresLedgerStore({ ...patientParts(commits), timezone: "UTC" });
    const lockers = ids.map(() => new Bun.SQL(url, { max: 1 }));
    const watcher = new Bun.SQL(url, { max: 1 });
    const waiting = async (): Promise<number> => {
      const rows: { count: number }[] = await watcher`SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return rows[0]?.count ?? 0;
    };
    const isLocked = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    // A transaction makes a budget as an act does, with the lock that the commit waits for.
    const make = async (index: number): Promise<void> => {
      await lockers[index]?.begin(async (tx) => {
        const id = ids[index] ?? "";
        await tx`SELECT id FROM accounts WHERE id = 'user:ann' FOR UPDATE`;
        isLocked.resolve();
        await go.promise;
        await tx`INSERT INTO accounts (id, kind, name, prepaid, max_budget, created_at)
          VALUES (${`budget:${id}`}, 'budget', ${id}, false, 1000000000000, 0)`;
        await tx`INSERT INTO budgets (id, account_id, created_at, version, owner_kind, owner_id)
          VALUES (${id}, 'user:ann', 0, 1, 'user', 'ann')`;
        await tx`UPDATE accounts SET has_budgets = true WHERE id = 'user:ann'`;
      });
    };
    const first = make(0);
    await isLocked.promise;
    const held = node.commit([holdOf("one", scene.accountId)]);
    await until("the commit waits", async () => (await waiting()) === 1);
    // The others come between its first try and its second one.
    const makers = [first, make(1), make(2)];
    await until("they wait behind it", async () => (await waiting()) === 3);
    go.resolve();
    await Promise.all(makers);
    expect((await held)[0]?.outcome).toBe("held");
    await node.commit([{ kind: "settle", id: "one", amount: credit, at: noon }]);
    const counted = await query<{ budgets: string }>(scene.storage, "SELECT budgets FROM entries WHERE id = 'one'");
    await expectClean(scene);
    await Promise.all([...lockers, watcher, patient].map((each) => each.close()));
    await scene.storage.close();
    return JSON.parse(counted[0]?.budgets ?? "[]") as string[];
  }
});
