/** The contract of every `GenerationStore`, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type Generation,
  type GenerationStore,
  intervalName,
  openGenerationStore,
  type SpendingQuery,
  type UsageOutcome,
  usageDetails,
  type UsageQuery,
} from "../../src/generations/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { insertGeneration, plainGeneration } from "../kit/generations.ts";
import { callDetails, detailsOf, shownDetails } from "./generations/call-details.ts";
import { describeCallLists } from "./generations/call-lists.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const DAY = 86_400_000;

/** Rows that a page of sums has here. */
const PAGE = 3;

const plain: Omit<Generation, "accountId"> = {
  id: "req_0000000000000000000000plain",
  owner: "alice",
  tokenId: "first",
  ...plainGeneration,
  model: "small",
  usage: { input: 7, output: 3 },
  milliseconds: 12.5,
  startedAt: 10 * DAY,
};
const full: typeof plain = {
  ...plain,
  id: "req_0000000000000000000000full",
  owner: "Ω ' \\ \" \n",
  dialect: undefined,
  model: "Ω ' \\ \" %",
  streamed: true,
  status: undefined,
  outcome: "expired",
  usage: {
    input: 1,
    cacheRead: 2,
    cacheWrite5m: 3,
    cacheWrite1h: 4,
    inputAudio: 5,
    cacheAudioRead: 6,
    output: 7,
    reasoning: 8,
    outputAudio: 9,
    requests: 1,
  },
  inputTokens: 2 ** 40,
  outputTokens: 24,
  credits: 2n ** 60n + 1n,
  milliseconds: 1e7 / 3,
  millisecondsToFirstByte: 0,
  startedAt: 2 ** 42,
  parent: "Ω ' \\ \" %",
  session: "Ω ' \\ \" %",
  route: "Ω ' \\ \" %",
  upstreamRequestId: "req-Ω",
  clientRequestId: "Ω ' \\ \" %",
  endUser: "Ω",
  tags: { team: "Ω ' \\ \" %" },
  attempts: [
    {
      number: 1,
      provider: "a",
      model: "b/c",
      key: "k",
      class: "overloaded",
      status: 503,
      codes: ["busy"],
      startedAt: 1,
      milliseconds: 2.5,
    },
    {
      number: 2,
      provider: "d",
      model: "e",
      key: "l",
      status: 200,
      upstreamRequestId: "Ω",
      startedAt: 4,
      milliseconds: 1,
    },
  ],
};

const everything: UsageQuery = { owner: "alice", from: 0, to: 1000 * DAY, groupBy: "day", groupsMax: 100 };

/** The number of calls in a report, or the reason why there is none. */
const requestsOf = (report: UsageOutcome) =>
  typeof report === "object" && "total" in report ? report.total.requests : report;

const sums = (requests: bigint, inputTokens: bigint, outputTokens: bigint, credits: bigint, failures = 0n) => ({
  requests,
  failures,
  inputTokens,
  outputTokens,
  credits,
  listCredits: 0n,
});

function describeGenerationStore(name: string, open: () => Promise<Storage>): void {
  describe(`generations on ${name}`, () => {
    let storage: Storage;
    let store: GenerationStore;
    let rows: number;

    beforeEach(async () => {
      storage = await open();
      store = openGenerationStore(storage, PAGE);
      rows = 0;
    });
    afterEach(() => storage.close());

    async function run(statement: string): Promise<void> {
      await (storage.engine === "sqlite" ? storage.handle.run(statement) : storage.statements.run(statement));
    }

    /** Variations of the plain call, each with its own id. */
    async function put(...calls: Partial<Generation>[]): Promise<void> {
      for (const call of calls) {
        rows += 1;
        await insertGeneration(storage, { ...plain, id: `req_${rows}`, ...call });
      }
    }

    test.each<[string, typeof plain]>([
      ["a plain one", plain],
      ["one with everything", full],
      ["a free one", { ...plain, usage: {}, inputTokens: 0, outputTokens: 0, credits: 0n, outcome: "failed" }],
    ])("come back as they went in: %s", async (_, generation) => {
      await insertGeneration(storage, generation);
      expect(await store.find(generation.id, generation.owner)).toEqual({ ...generation, accountId: "token:first" });
    });

    test("are found by their id and their owner alone", async () => {
      await insertGeneration(storage, plain);
      for (const owner of ["", "ALICE", "alice ", "bob", "%", "' OR 1=1 --", plain.tokenId])
        expect(await store.find(plain.id, owner)).toBeUndefined();
      for (const id of ["", plain.id.slice(0, -1), `${plain.id}0`, plain.id.toUpperCase(), "%", "' OR 1=1 --"])
        expect(await store.find(id, plain.owner)).toBeUndefined();
    });

    test("keep to the buckets that are known", async () => {
      await insertGeneration(storage, plain);
      const usage = `'{"input":4,"parsecs":2,"output":"many","__proto__":{"reasoning":1}}'`;
      await run(`UPDATE ${storage.engine === "sqlite" ? "entries" : "generations"} SET usage = ${usage}`);
      expect((await store.find(plain.id, plain.owner))?.usage).toEqual({ input: 4 });
    });

    describe("sums", () => {
      test("without calls are empty", async () => {
        await put({});
        const nothing = { groups: [], total: sums(0n, 0n, 0n, 0n) };
        expect(await store.usage({ ...everything, owner: "bob" })).toEqual(nothing);
        expect(await store.usage({ ...everything, from: 5 * DAY, to: 5 * DAY })).toEqual(nothing);
      });

      test("count the owner's calls alone, whichever token and outcome they had", async () => {
        await put({}, { tokenId: "second", outcome: "failed", credits: 0n }, { owner: "bob" }, { owner: "alice2" });
        const { total } = (await store.usage(everything)) as { total: object };
        expect(total).toEqual(sums(2n, 14n, 6n, 10n, 1n));
      });

      test("begin with `from` and end before `to`", async () => {
        await put({ startedAt: 99 }, { startedAt: 100 }, { startedAt: 199 }, { startedAt: 200 });
        const requests = async (from: number, to: number) => {
          const report = await store.usage({ ...everything, from, to });
          return requestsOf(report);
        };
        expect(await requests(100, 200)).toBe(2n);
        expect(await requests(99, 201)).toBe(4n);
        expect(await requests(101, 199)).toBe(0n);
        expect(await requests(-1, 100)).toBe(1n);
      });

      test("by day go from midnight to midnight, from the oldest", async () => {
        await put(
          { startedAt: 20_000 * DAY, credits: 1n },
          { startedAt: 20_000 * DAY - 1, credits: 2n },
          { startedAt: 20_001 * DAY - 1, credits: 4n },
          { startedAt: 19_990 * DAY, credits: 8n },
        );
        expect(await store.usage({ ...everything, to: 30_000 * DAY })).toEqual({
          groups: [
            { name: "2024-09-24", ...sums(1n, 7n, 3n, 8n) },
            { name: "2024-10-03", ...sums(1n, 7n, 3n, 2n) },
            { name: "2024-10-04", ...sums(2n, 14n, 6n, 5n) },
          ],
          total: sums(4n, 28n, 12n, 15n),
        });
      });

      test("by model are sorted by cost, then by name, and separate providers", async () => {
        const call = (provider: string, model: string, credits: bigint) => ({ provider, model, credits });
        await put(call("p", "z", 1n), call("p", "a", 1n), call("p", "m", 5n), call("p", "z", 1n));
        await put(call("o", "z", 2n), call("P", "m", 0n));
        const report = await store.usage({ ...everything, groupBy: "model" });
        expect(report).toHaveProperty("groups", [
          { name: "p/m", ...sums(1n, 7n, 3n, 5n) },
          { name: "o/z", ...sums(1n, 7n, 3n, 2n) },
          { name: "p/z", ...sums(2n, 14n, 6n, 2n) },
          { name: "p/a", ...sums(1n, 7n, 3n, 1n) },
          { name: "P/m", ...sums(1n, 7n, 3n, 0n) },
        ]);
      });

      test("by token name the token, not its account", async () => {
        await put({ tokenId: "k1" }, { tokenId: "k2", credits: 30n }, { tokenId: "k1" });
        expect(await store.usage({ ...everything, groupBy: "token" })).toHaveProperty("groups", [
          { name: "k2", ...sums(1n, 7n, 3n, 30n) },
          { name: "k1", ...sums(2n, 14n, 6n, 20n) },
        ]);
      });

      test("by session are pages by name, of calls that named one; the total has all", async () => {
        const call = (session: string | undefined, startedAt: number) => ({ session, startedAt, credits: 2n });
        await put(
          call("b", 1),
          call("a", 2),
          call(undefined, DAY),
          call("C", DAY),
          call("b", 5 * DAY),
          call("a b", 6 * DAY),
        );
        await put({ owner: "bob", session: "b" }, call("d", 9 * DAY));
        const bySession = { ...everything, to: 9 * DAY, groupBy: "session", groupsMax: 2 } as const;
        const total = sums(6n, 42n, 18n, 12n);
        expect(await store.usage(bySession)).toEqual({
          groups: [
            { name: "C", ...sums(1n, 7n, 3n, 2n) },
            { name: "a", ...sums(1n, 7n, 3n, 2n) },
          ],
          total,
          hasMore: true,
        });
        expect(await store.usage({ ...bySession, after: "a" })).toEqual({
          groups: [
            { name: "a b", ...sums(1n, 7n, 3n, 2n) },
            { name: "b", ...sums(2n, 14n, 6n, 4n) },
          ],
          total,
        });
        expect(await store.usage({ ...bySession, after: "b" })).toEqual({ groups: [], total });
      });

      test("take in each call once, however the pages fall", async () => {
        // Many in one millisecond, more than a page has; neighbours one millisecond apart; and gaps.
        const moments = [5, 5, 5, 5, 5, 6, 7, 7, 8, 100, 100, 100, 2 * DAY, 2 * DAY, 2 * DAY + 1, 3 * DAY];
        await put(...moments.map((startedAt, index) => ({ startedAt, credits: 1n << BigInt(index) })));
        for (let count = 0; count <= moments.length; count += 1) {
          const to = moments[count] ?? 4 * DAY;
          const inside = moments.map((moment) => moment < to);
          const credits = inside.reduce((sum, isIn, index) => (isIn ? sum | (1n << BigInt(index)) : sum), 0n);
          const requests = BigInt(inside.filter(Boolean).length);
          const report = await store.usage({ ...everything, to });
          expect(report).toHaveProperty("total", sums(requests, requests * 7n, requests * 3n, credits));
        }
      });

      test("are exact beyond floats", async () => {
        const large = 2n ** 61n + 1n;
        // All of them fit into 64 bits, as an account's balance does.
        const amounts = [large, 1n, 1n, large, 1n, 1n, large];
        await put(...amounts.map((credits, index) => ({ startedAt: index * DAY, credits })));
        expect(await store.usage(everything)).toHaveProperty("total.credits", 3n * large + 4n);
      });

      test("have a bound on their groups", async () => {
        await put({ model: "a" }, { model: "b" }, { model: "c" }, { model: "d" }, { model: "e" });
        const by = (groupsMax: number) => store.usage({ ...everything, groupBy: "model", groupsMax });
        expect(await by(5)).toHaveProperty("groups.length", 5);
        expect(await by(4)).toBe("too-many-groups");
      });

      test("for many at once are each one's own", async () => {
        await put(...Array.from({ length: 10 }, (_, index) => ({ startedAt: index, credits: 1n })));
        await put({ owner: "bob" });
        const askers = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? "alice" : "bob"));
        const reports = await Promise.all(askers.map((owner) => store.usage({ ...everything, owner })));
        const requests = reports.map(requestsOf);
        expect(requests).toEqual(askers.map((owner) => (owner === "alice" ? 10n : 1n)));
      });

      test("are not read for who went away, and then for the next", async () => {
        await put({});
        const gone = store.usage({ ...everything, signal: AbortSignal.abort() });
        const next = store.usage({ ...everything, signal: new AbortController().signal });
        expect(await gone.catch((reason: unknown) => reason)).toMatchObject({ code: "request_interrupted" });
        expect(await next).toHaveProperty("total.requests", 1n);
      });
    });

    describe("the spending of all", () => {
      const all: SpendingQuery = {
        owners: undefined,
        from: 0,
        to: 1000 * DAY,
        groupBy: ["user"],
        interval: "day",
        groupsMax: 1_000,
        filter: {},
        organisationOf: (account: string) => ({ "token:a": "acme", "token:b": "acme", "token:c": "beta" })[account],
      };

      test("is by several dimensions, days from the oldest, then from the dearest", async () => {
        await put({ tokenId: "a", credits: 1n }, { tokenId: "c", owner: "bob", credits: 5n });
        await put({ tokenId: "b", owner: "bob", startedAt: 9 * DAY }, { tokenId: "d", owner: "Ω", credits: 2n });
        const report = await store.spending({ ...all, groupBy: ["day", "organisation", "user"] });
        expect(report).toEqual({
          groups: [
            { values: { day: "1970-01-10", organisation: "acme", user: "bob" }, ...sums(1n, 7n, 3n, 10n) },
            { values: { day: "1970-01-11", organisation: "beta", user: "bob" }, ...sums(1n, 7n, 3n, 5n) },
            { values: { day: "1970-01-11", organisation: undefined, user: "Ω" }, ...sums(1n, 7n, 3n, 2n) },
            { values: { day: "1970-01-11", organisation: "acme", user: "alice" }, ...sums(1n, 7n, 3n, 1n) },
          ],
          total: sums(4n, 28n, 12n, 18n),
        });
      });

      test("is of those who are asked for, and of what has the values of the filter", async () => {
        await put(
          { tokenId: "a", model: "x" },
          { tokenId: "c", model: "x" },
          { owner: "bob", tokenId: "a", model: "y" },
        );
        const total = async (query: object) => requestsOf((await store.spending({ ...all, ...query })) as UsageOutcome);
        expect(await total({})).toBe(3n);
        expect(await total({ owners: ["bob"] })).toBe(1n);
        expect(await total({ owners: [] })).toBe(0n);
        expect(await total({ filter: { organisation: "acme" } })).toBe(2n);
        expect(await total({ filter: { organisation: "acme", model: "openai/x" } })).toBe(1n);
        expect(await total({ filter: { token: "c" } })).toBe(1n);
        expect(await total({ filter: { provider: "other" } })).toBe(0n);
      });

      test("equals the sum of its rows in every grouping, at any moments", async () => {
        const call = fc.record({
          owner: fc.constantFrom("alice", "bob", "eve"),
          tokenId: fc.constantFrom("a", "b", "c", "d"),
          provider: fc.constantFrom("p", "q"),
          model: fc.constantFrom("m", "n"),
          operation: fc.constantFrom("chat", "embedding"),
          outcome: fc.constantFrom("complete" as const, "failed" as const, "abandoned" as const),
          session: fc.constantFrom(undefined, "s"),
          endUser: fc.constantFrom(undefined, "e", "f"),
          listCredits: fc.constantFrom(undefined, 5),
          tags: fc.constantFrom<Record<string, string> | undefined>(
            undefined,
            { team: "x" },
            { env: "p'\"\\", team: "y" },
            { env: "q" },
          ),
          startedAt: fc.integer({ min: 0, max: 130 * DAY }),
          credits: fc.bigInt({ min: 0n, max: 1000n }),
          ...callDetails,
        });
        const calls = fc.sample(call, { seed: 20_261_127, numRuns: 80 });
        await put(...calls);
        const groupBy = fc.uniqueArray(
          fc.constantFrom(
            "day",
            "organisation",
            "user",
            "token",
            "provider",
            "model",
            "operation",
            "session",
            "end_user",
            "tag:team" as const,
            "tag:env" as const,
          ),
        );
        const filters = fc.constantFrom<SpendingQuery["filter"]>(
          {},
          { "tag:team": "x" },
          { "tag:env": null },
          { model: "p/m", "tag:team": "y" },
        );
        const isIn = ({ provider, model, tags }: (typeof calls)[number], filter: SpendingQuery["filter"]) =>
          (["team", "env"] as const).every(
            (key) => filter[`tag:${key}`] === undefined || filter[`tag:${key}`] === (tags?.[key] ?? null),
          ) &&
          (filter.model === undefined || filter.model === `${provider}/${model}`);
        // Both within a day, and at the beginnings of days and of months.
        const moment = fc.oneof(
          fc.integer({ min: 0, max: 131 * DAY }),
          fc.integer({ min: 0, max: 131 }).map((day) => day * DAY),
          fc.constantFrom(0, 31 * DAY, 59 * DAY, 90 * DAY, 120 * DAY),
        );
        const interval = fc.constantFrom("day", "week", "month");
        await fc.assert(
          fc.asyncProperty(moment, moment, groupBy, interval, filters, async (one, other, by, length, filter) => {
            const [from, to] = [Math.min(one, other), Math.max(one, other)];
            const report = await store.spending({
              ...all,
              from,
              to,
              groupBy: by,
              interval: length,
              filter,
              details: usageDetails,
            });
            if (typeof report !== "object" || !("groups" in report)) throw new Error("there is no report");
            const inside = calls.filter((each) => each.startedAt >= from && each.startedAt < to && isIn(each, filter));
            const credits = (of: readonly { credits: bigint }[]) => of.reduce((sum, each) => sum + each.credits, 0n);
            expect(report.total.credits).toBe(credits(inside));
            expect(credits(report.groups)).toBe(credits(inside));
            const failed = inside.filter(({ outcome }) => outcome === "failed").length;
            const listed = inside.reduce((sum, { listCredits = 0 }) => sum + listCredits, 0);
            expect([report.total.failures, report.total.listCredits]).toEqual([BigInt(failed), BigInt(listed)]);
            expect(shownDetails(report.total)).toEqual(detailsOf(inside));
            for (const { values, ...group } of report.groups) {
              const own = inside.filter(
                ({ owner, tokenId, provider, model, operation, session, endUser, tags, startedAt }) =>
                  (!("tag:team" in values) || values["tag:team"] === tags?.["team"]) &&
                  (!("tag:env" in values) || values["tag:env"] === tags?.["env"]) &&
                  (!("user" in values) || values.user === owner) &&
                  (!("token" in values) || values.token === tokenId) &&
                  (!("organisation" in values) || values.organisation === all.organisationOf(`token:${tokenId}`)) &&
                  (!("operation" in values) || values.operation === operation) &&
                  (!("session" in values) || values.session === session) &&
                  (!("end_user" in values) || values.end_user === endUser) &&
                  (!("provider" in values) || values.provider === provider) &&
                  (!("model" in values) || values.model === `${provider}/${model}`) &&
                  (!("day" in values) || values.day === intervalName(Math.floor(startedAt / DAY), length)),
              );
              expect([group.requests, group.credits]).toEqual([BigInt(own.length), credits(own)]);
              expect(shownDetails(group)).toEqual(detailsOf(own));
            }
          }),
          { numRuns: 60 },
        );
      });

      test("is read whole in parts, each group once, with the days of each owner in order", async () => {
        const call = fc.record({
          owner: fc.constantFrom("alice", "bob"),
          tokenId: fc.constantFrom("a", "c"),
          model: fc.constantFrom("m", "n"),
          startedAt: fc.integer({ min: 0, max: 6 * DAY }),
        });
        await put(...fc.sample(call, { seed: 20_261_128, numRuns: 80 }));
        const groupBy = ["organisation", "user", "token", "model"] as const;
        for (const [from, to] of [
          [0, 7 * DAY],
          [DAY / 2, 5 * DAY + 1],
          [DAY / 4, DAY / 2],
          [DAY, DAY],
        ] as const) {
          const found = await store.allSpending({ ...all, from, to, groupBy, details: usageDetails });
          if (!("parts" in found)) throw new Error("there are none");
          const groups = (await Array.fromAsync(found.parts)).flat();
          const whole = await store.spending({ ...all, from, to, groupBy: ["day", ...groupBy], details: usageDetails });
          const text = (each: object): string => Bun.inspect(each, { sorted: true, compact: true });
          expect(groups.map(text).toSorted()).toEqual(
            typeof whole === "object" && "groups" in whole ? whole.groups.map(text).toSorted() : [],
          );
          for (const user of ["alice", "bob"]) {
            const days = groups.flatMap(({ values }) => (values.user === user ? [values.day] : []));
            expect(days).toEqual(days.toSorted((one = "", other = "") => one.localeCompare(other)));
          }
        }
      });

      test("has a bound on its groups", async () => {
        await put({ owner: "a" }, { owner: "b" }, { owner: "c" });
        expect(await store.spending({ ...all, groupsMax: 2 })).toBe("too-many-groups");
      });
    });
  });
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

for (const describeStore of [describeGenerationStore, describeCallLists]) {
  describeStore("sqlite", () => openStorage("sqlite::memory:"));
  describeStore("postgres", async () => openStorage(await server.createDatabase()));
}
