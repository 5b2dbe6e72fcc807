/** The lists of calls of every `GenerationStore`: pages, searches and news, compared with the calls themselves. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { firstRequestIdAt } from "../../../src/core/index.ts";
import {
  type CallFilter,
  type CallPageQuery,
  type Generation,
  type GenerationStore,
  openGenerationStore,
} from "../../../src/generations/index.ts";
import type { Storage } from "../../../src/storage/index.ts";
import { query } from "../../kit/index.ts";
import { insertGeneration, plainGeneration } from "../../kit/generations.ts";

const T0 = Date.parse("2026-11-20T00:00:00Z");
const ROWS = 4;

type Call = Omit<Generation, "accountId">;

/** An id that begins with a time, as those of requests do. */
const idAt = (time: number, end: number): string => firstRequestIdAt(time).slice(0, -6) + String(end).padStart(6, "0");

const base: Call = {
  id: "",
  owner: "ann",
  tokenId: "a",
  ...plainGeneration,
  inputTokens: 1,
  outputTokens: 1,
  credits: 1n,
  startedAt: T0,
};

const isFailed = ({ outcome }: Call): boolean => outcome !== "complete" && outcome !== "abandoned";

/** The organisation of each token; the users' accounts are between both. */
const accounts = { a: "acme", b: "acme", c: "beta" } as const;

function selects(filter: CallFilter, call: Call): boolean {
  const account = accounts[call.tokenId as keyof typeof accounts];
  const wanted: [unknown, unknown][] = [
    [filter.owner, call.owner],
    [filter.organisationAccount, `organisation:${account}`],
    [filter.tokenId, call.tokenId],
    [filter.provider, call.provider],
    [filter.model, `${call.provider}/${call.model}`],
    [filter.operation, call.operation],
    [filter.hasFailed, isFailed(call)],
    [filter.session, call.session],
    [filter.endUser, call.endUser],
    ...Object.entries(filter.tags ?? {}).map(([key, value]): [unknown, unknown] => [
      value ?? "none",
      call.tags?.[key] ?? "none",
    ]),
  ];
  return wanted.every(([asked, own]) => asked === undefined || asked === own);
}

const some = <Value>(...values: Value[]) => fc.constantFrom(undefined, ...values);

const aCall = fc.record({
  owner: fc.constantFrom("ann", "bob"),
  tokenId: fc.constantFrom("a", "b", "c"),
  provider: fc.constantFrom("openai", "xai"),
  model: fc.constantFrom("m", "n/o"),
  operation: fc.constantFrom("chat", "embedding"),
  outcome: fc.constantFrom("complete" as const, "failed" as const, "abandoned" as const, "expired" as const),
  session: some("s 1", "s'2"),
  endUser: some("e"),
  tags: some({ team: "x" }, { team: 'y"', app: "z" }),
  // Few moments, so that many calls have the same.
  startedAt: fc.integer({ min: 0, max: 12 }).map((number) => T0 + number * 1_000),
});

const aFilter = fc.record({
  owner: some("ann", "bob", "eve"),
  organisationAccount: some("organisation:acme", "organisation:beta", ""),
  tokenId: some("a", "%"),
  provider: some("openai"),
  model: some("openai/m", "xai/n/o"),
  operation: some("chat"),
  hasFailed: some(true, false),
  session: some("s 1", "s'2"),
  endUser: some("e"),
  tags: some<Record<string, string | null>>({ team: "x" }, { team: null }, { team: 'y"', app: "z" }, { nobody: "has" }),
});

export function describeCallLists(name: string, open: () => Promise<Storage>): void {
  describe(`lists of calls on ${name}`, () => {
    let storage: Storage;
    let store: GenerationStore;
    let written: Call[];

    const insertAccount = (id: string, kind: string, parent: string): string =>
      `INSERT INTO accounts (id, kind, name, parent_id, prepaid, created_at) VALUES ('${id}', '${kind}', '${id}', ${parent}, ${storage.engine === "sqlite" ? 0 : "false"}, 0)`;

    beforeEach(async () => {
      storage = await open();
      store = openGenerationStore(storage, ROWS);
      written = [];
      for (const id of ["acme", "beta"]) {
        await query(storage, insertAccount(`organisation:${id}`, "organisation", "NULL"));
        await query(storage, insertAccount(`user:of-${id}`, "user", `'organisation:${id}'`));
      }
      await query(storage, insertAccount("token:a", "token", "'user:of-acme'"));
      await query(storage, insertAccount("token:b", "token", "'organisation:acme'"));
      await query(storage, insertAccount("token:c", "token", "'user:of-beta'"));
    });
    afterEach(() => storage.close());

    async function put(...calls: Partial<Call>[]): Promise<void> {
      for (const call of calls) {
        const startedAt = call.startedAt ?? T0;
        const full = { ...base, id: idAt(startedAt, written.length), ...call, startedAt };
        written.push(full);
        await insertGeneration(storage, full);
      }
    }

    /** All pages, one behind the other. */
    async function listed(asked: Omit<CallPageQuery, "after">): Promise<string[]> {
      const ids: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.list({ ...asked, after });
        expect(page.calls.length).toBeLessThanOrEqual(asked.limit);
        ids.push(...page.calls.map(({ id }) => id));
        after = page.next;
      } while (after !== undefined);
      return ids;
    }

    test("have each call that matches once, from the newest, whatever the size of the pages", async () => {
      await put(...fc.sample(aCall, { seed: 37, numRuns: 60 }));
      const moment = fc.integer({ min: -1, max: 14 }).map((number) => T0 + number * 1_000);
      await fc.assert(
        fc.asyncProperty(aFilter, moment, moment, fc.integer({ min: 1, max: 9 }), async (filter, one, other, limit) => {
          const [from, to] = [Math.min(one, other), Math.max(one, other)];
          const expected = written
            .filter((call) => call.startedAt >= from && call.startedAt < to && selects(filter, call))
            .map(({ id }) => id)
            .toSorted()
            .toReversed();
          expect(await listed({ filter, from, to, limit })).toEqual(expected);
          // A search that ends early goes on where it ended.
          expect(await listed({ filter, from, to, limit, rowsMax: 8 })).toEqual(expected);
          const parts: string[] = [];
          for await (const { calls } of store.parts({ filter, from, to })) parts.push(...calls.map(({ id }) => id));
          expect(parts).toEqual(expected);
        }),
        { seed: 37, numRuns: 60 },
      );
    });

    test("have the time that a search has reached", async () => {
      await put(...Array.from({ length: 20 }, (_, number) => ({ startedAt: T0 + number * 1_000 })));
      for (const owner of [undefined, "ann"]) {
        const filter = { owner, provider: "none" };
        const page = await store.list({ filter, from: T0, to: T0 + 60_000, limit: 5, rowsMax: 8 });
        expect(page).toMatchObject({ calls: [], scannedFrom: T0 + 12_000 });
        expect(page.next).toBeDefined();
      }
      const all = await store.list({ filter: { provider: "none" }, from: T0, to: T0 + 60_000, limit: 5, rowsMax: 400 });
      expect(all).toEqual({ calls: [], next: undefined });
    });

    test("go on behind a call that was removed meanwhile", async () => {
      await put({ startedAt: T0 }, { startedAt: T0 + 5 }, { startedAt: T0 + 9 });
      for (const filter of [{}, { owner: "ann" }]) {
        const after = idAt(T0 + 7, 999);
        const page = await store.list({ filter, from: 0, to: T0 + 60_000, limit: 5, after });
        expect(page.calls.map(({ startedAt }) => startedAt - T0)).toEqual([5, 0]);
      }
    });

    test("find a call by the caller's and the upstream's ids, first among the failed ones", async () => {
      await put(
        { clientRequestId: "mine", outcome: "failed", startedAt: T0 },
        { clientRequestId: "mine", startedAt: T0 + 1 },
        { upstreamRequestId: 'up"1', outcome: "failed", startedAt: T0 + 2, tokenId: "c" },
        { upstreamRequestId: "up2", startedAt: T0 + 3 },
        {
          startedAt: T0 + 4,
          attempts: [
            {
              number: 1,
              provider: "p",
              model: "m",
              key: "k",
              upstreamRequestId: 'first"',
              startedAt: 1,
              milliseconds: 1,
            },
          ],
        },
      );
      const to = T0 + 60_000;
      const found = async (id: string, more: object = {}) => {
        const outcome = await store.findByForeignId({ id, to, ...more });
        return "call" in outcome ? outcome.call.startedAt - T0 : outcome;
      };
      expect(await found("mine")).toBe(0);
      expect(await found('up"1')).toBe(2);
      expect(await found("up2")).toBe(3);
      expect(await found('first"')).toBe(4);
      for (const id of ["up", "%", "", "first", "UP2"]) expect(await found(id)).toEqual({ searchedFrom: 0 });
      expect(await found('up"1', { organisationAccount: "organisation:acme" })).toEqual({ searchedFrom: 0 });
      expect(await found('up"1', { organisationAccount: "organisation:beta" })).toBe(2);
      expect(await found("up2", { to: T0 + 3 })).toEqual({ searchedFrom: 0 });
      expect(await found("nobody's", { rowsMax: ROWS })).toEqual({ searchedFrom: T0 + 1 });
    });

    test("find a call by its own id, of an organisation alone if one is named", async () => {
      await put({ tokenId: "c" });
      const id = written[0]?.id ?? "";
      expect(await store.findAny(id)).toEqual({ ...base, id, tokenId: "c", accountId: "token:c" });
      expect(await store.findAny(id, "organisation:beta")).toBeDefined();
      expect(await store.findAny(id, "organisation:acme")).toBeUndefined();
      expect(await store.findAny(id, "")).toBeUndefined();
    });

    test("of a series have those for which an organisation has paid, if one is named", async () => {
      const parent = idAt(T0, 900);
      // Of a browser's session, below the token that it was begun with.
      await query(storage, insertAccount("token:s", "token", "'token:a'"));
      await put(...["a", "s", "c"].map((tokenId) => ({ tokenId, parent })));
      const tokensOf = async (organisationAccount?: string) =>
        (await store.ofSeries({ owner: "ann", organisationAccount, parent, after: "", limit: 9 })).map(
          ({ tokenId }) => tokenId,
        );
      expect(await tokensOf()).toEqual(["a", "s", "c"]);
      expect(await tokensOf("organisation:acme")).toEqual(["a", "s"]);
      expect(await tokensOf("organisation:beta")).toEqual(["c"]);
      expect(await tokensOf("")).toEqual([]);
    });

    test("have each new call once, and the number of those left out", async () => {
      await put({}, {});
      const [all, failed] = [store.follow({}), store.follow({ hasFailed: true, owner: "ann" })];
      const news = async (follower: typeof all, limit = 10) => {
        const { calls, left } = await follower.next(limit);
        return [calls.map(({ id }) => id), left];
      };
      expect(await news(all)).toEqual([[], 0]);
      expect(await news(failed)).toEqual([[], 0]);
      // It has the read of the other one, as all followers of a process.
      expect(await news(all)).toEqual([[], 0]);
      await put({ outcome: "failed" }, {}, { outcome: "failed", owner: "bob" });
      // Their entries are those of the ledger's commits, whose times `insertGeneration` does not write.
      if (storage.engine === "postgres")
        await query(
          storage,
          `INSERT INTO entries (id, kind, debit_account, credit_account, amount, held, shortfall, created_at)
           SELECT id, 'settle', account_id, 'revenue', credits, credits, 0, ${Date.now()} FROM generations`,
        );
      const ids = written.map(({ id }) => id);
      if (storage.engine === "postgres") {
        // The first two had no entries when the follower began.
        expect(await news(all, 3)).toEqual([ids.slice(0, 3), 2]);
      } else expect(await news(all, 2)).toEqual([ids.slice(2, 4), 1]);
      expect(await news(failed)).toEqual([ids.slice(2, 3), 0]);
      expect(await news(all)).toEqual([[], 0]);
      expect(await news(failed)).toEqual([[], 0]);
    });
  });
}
