/** A user moves to another organisation, on either engine, with money, holds, secrets and retry keys. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  type AccountsDependencies,
  changeHolder,
  createToken,
  findTokenState,
  grantCredits,
  holderJson,
  revokeToken,
} from "../../src/accounts/index.ts";
import { createAccounts } from "../../src/app/accounts.ts";
import { openGenerationStore } from "../../src/generations/index.ts";
import { type Hold, openLedgerStore, openSpendingReader } from "../../src/ledger/index.ts";
import { reportSpending } from "../../src/spending/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { query } from "../kit/engines.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { openStorage } from "../kit/storage.ts";

const credit = 1_000_000_000n;
const ann = { kind: "user", name: "ann" } as const;
const noon = Date.UTC(2026, 10, 27, 12);

function describeMoves(name: string, open: () => Promise<Storage>): void {
  describe(`a move on ${name}`, () => {
    let storage: Storage;
    let deps: AccountsDependencies;
    let now: number;

    beforeEach(async () => {
      storage = await open();
      now = noon;
      deps = createAccounts(storage, { clock: () => now, randomBytes: (size) => randomBytes(size) }, "cli:root");
      for (const organisation of ["acme", "beta"])
        await grantCredits(deps, { kind: "organisation", name: organisation }, 100n * credit);
    });
    afterEach(() => storage.close());

    const accountOf = async (token: string): Promise<string> =>
      (await deps.tokens.findById(token))?.accountId ?? "none";

    const holdOf = (id: string, accountId: string, more: Partial<Hold> = {}): Hold => ({
      kind: "hold",
      id,
      accountId,
      amount: 2n * credit,
      at: now,
      leaseUntil: now + 60_000,
      operation: "chat",
      provider: "openai",
      model: "m",
      dialect: "chat",
      streamed: false,
      ...more,
    });

    const commit = async (operation: Parameters<AccountsDependencies["accounts"]["commit"]>[0][number]) => {
      const [outcome] = await openLedgerStore(storage).commit([operation]);
      return outcome?.outcome;
    };

    const move = (organisation: string | null, more: object = {}) => changeHolder(deps, ann, { organisation, ...more });

    async function spends(): Promise<Record<string, number>> {
      const accounts = await openLedgerStore(storage).listAccounts(now);
      return Object.fromEntries(
        accounts
          .filter(({ kind }) => kind !== "token")
          .map(({ id, debitsPosted, debitsPending }) => [id, Number((debitsPosted + debitsPending) / credit)]),
      );
    }

    const expectBalance = async (): Promise<void> =>
      expect(await openLedgerStore(storage).audit()).toMatchObject({ openHolds: 0, drifts: [] });

    test("leaves the spending and the open holds, which end there; new calls are the new organisation's", async () => {
      const { id } = await createToken(deps, { user: "ann", organisation: "acme", maxBudget: 9n * credit, rpm: 50 });
      await changeHolder(deps, ann, { maxBudget: 50n * credit, period: "monthly" });
      const first = await accountOf(id);
      await commit(holdOf("spent", first));
      await commit({ kind: "settle", id: "spent", amount: credit, at: now });
      await commit(holdOf("open", first));
      const moved = await move("beta");
      const { holder, chain } = moved;
      expect([holder.id, chain.map((account) => account.id)]).toEqual(["ann", ["user:ann:2", "organisation:beta"]]);
      expect(holderJson(moved)).toMatchObject({ max_budget: 50, period: "monthly", spend: 0 });
      const second = await accountOf(id);
      expect([first, second]).toEqual([`token:${id}`, `token:${id}:2`]);
      expect((await findTokenState(deps, id)).chain.map((each) => each.maxBudget)).toEqual([
        9n * credit,
        50n * credit,
        undefined,
      ]);
      // The open call needs more, and a new one begins.
      await commit({ kind: "top-up", id: "open", amount: 3n * credit, at: now });
      await commit(holdOf("new", second));
      expect(await spends()).toMatchObject({
        "organisation:acme": 4,
        "user:ann": 4,
        "organisation:beta": 2,
        "user:ann:2": 2,
      });
      await commit({ kind: "settle", id: "open", amount: 3n * credit, at: now });
      await commit({ kind: "settle", id: "new", amount: 2n * credit, at: now });
      expect(await spends()).toMatchObject({ "organisation:acme": 4, "organisation:beta": 2 });
      await expectBalance();
    });

    test("there and back gives a third account, and the first stays closed", async () => {
      const { id } = await createToken(deps, { user: "ann", organisation: "acme" });
      await move("beta");
      await move("acme");
      expect(await accountOf(id)).toBe(`token:${id}:3`);
      expect((await move("acme")).holder.version).toBe(3);
      const moves = (await deps.log.list({ limit: 50 })).filter(({ act }) => act === "user.move");
      expect(moves).toHaveLength(2);
      expect(JSON.parse(moves[1]?.before ?? "")).toMatchObject({ organisation_id: "acme" });
      expect(JSON.parse(moves[1]?.after ?? "")).toMatchObject({ organisation_id: "beta" });
    });

    test("moves with other changes in one commit and one row, and a revoked token or one of a service not at all", async () => {
      const revoked = await createToken(deps, { user: "ann", organisation: "acme" });
      await revokeToken(deps, revoked.id);
      const service = await createToken(deps, { user: "ann", service: true });
      await move("beta", { name: "anna", rpm: 7 });
      const [row] = await deps.log.list({ limit: 1 });
      expect(row?.act).toBe("user.move");
      expect(JSON.parse(row?.after ?? "")).toMatchObject({ organisation_id: "beta", name: "anna", rpm: 7 });
      expect(await accountOf(revoked.id)).toBe(`token:${revoked.id}`);
      expect(await accountOf(service.id)).toBe(`token:${service.id}`);
    });

    test("keeps credits from getting lost", async () => {
      await createToken(deps, { user: "ann", credits: 5n * credit });
      expect(await move("acme").catch((error: Error) => error.message)).toBe(
        "user ann has a balance of 5: take it back or grant it first",
      );
      await grantCredits(deps, ann, -5n * credit);
      await move("acme");
      // Out again: the balance is a new one.
      const { chain } = await move(null);
      expect(chain.map(({ id, prepaid, creditsPosted }) => [id, prepaid, creditsPosted])).toEqual([
        ["user:ann:3", true, 0n],
      ]);
      await grantCredits(deps, ann, 2n * credit);
      await expectBalance();
    });

    test("an answer that a retry key has stored is found under the new account", async () => {
      const { id } = await createToken(deps, { user: "ann", organisation: "acme" });
      const retry = { key: "k", fingerprint: "f" };
      await commit(holdOf("first", await accountOf(id), { retry }));
      const answer = { status: 200, headers: [], body: Buffer.from("hello") };
      await commit({ kind: "settle", id: "first", amount: credit, at: now, answer });
      await move("beta");
      expect(await commit(holdOf("again", await accountOf(id), { retry }))).toBe("replayed");
      expect(await spends()).toMatchObject({ "organisation:acme": 1, "organisation:beta": 0 });
    });

    test("a hold that expires after the move is recorded for the id of the user, whatever their name is", async () => {
      const { id } = await createToken(deps, { user: "ann", organisation: "acme" });
      await commit(holdOf("lost", await accountOf(id)));
      await commit({ kind: "renew", id: "lost", leaseUntil: now + 60_000, observed: credit });
      await move("beta", { name: "anna" });
      now += 120_000;
      await commit({ kind: "sweep", at: now });
      expect(await query<object>(storage, "SELECT owner, account_id FROM generations")).toEqual([
        { owner: "ann", account_id: `token:${id}` },
      ]);
      await expectBalance();
    });

    test("reports have the spending of each organisation, user and token, before and after", async () => {
      const { id } = await createToken(deps, { user: "ann", organisation: "acme" });
      const call = async (request: string): Promise<void> => {
        await commit(holdOf(request, await accountOf(id)));
        const record = { owner: "ann", operation: "chat", dialect: "chat", provider: "openai", model: "m" } as const;
        const rest = { streamed: false, status: 200, outcome: "complete", usage: {}, milliseconds: 1 } as const;
        const more = { millisecondsToFirstByte: 1, startedAt: now };
        await commit({ kind: "settle", id: request, amount: credit, at: now, record: { ...record, ...rest, ...more } });
      };
      await call("one");
      await move("beta");
      await call("two");
      await call("three");
      const generations = openGenerationStore(storage);
      const report = async (groupBy: "organisation" | "user" | "token", more: object = {}) => {
        const period = { from: noon - 1_000, to: noon + 1_000, interval: "day" } as const;
        const found = await reportSpending({ ...deps, generations }, { ...period, groupBy: [groupBy], ...more });
        if (typeof found !== "object" || !("groups" in found)) throw new Error("no report");
        return Object.fromEntries<number>(
          found.groups.map(({ values, credits }) => [String(values[groupBy]), Number(credits / credit)]),
        );
      };
      expect(await report("organisation")).toEqual({ acme: 1, beta: 2 });
      expect(await report("user")).toEqual({ ann: 3 });
      expect(await report("token")).toEqual({ [id]: 3 });
      expect(await report("user", { organisation: "acme" })).toEqual({ ann: 1 });
      const balances = await openSpendingReader(storage).spentBalances(now);
      expect(new Map(balances.map(({ accountId, lastDay }) => [accountId, Number(lastDay / credit)]))).toEqual(
        new Map([
          ["organisation:acme", 1],
          ["organisation:beta", 2],
        ]),
      );
    });
  });
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeMoves("sqlite", () => openStorage("sqlite::memory:"));
describeMoves("postgres", async () => openStorage(await server.createDatabase()));
