import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Principal } from "../../auth/index.ts";
import { openGenerationStore } from "../../generations/index.ts";
import type { SqliteStorage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { askRoute } from "../__fixtures__/ask-route.ts";
import { usageAnswer, usageRoute } from "./usage.ts";

const now = Date.parse("2026-11-21T08:30:00Z");

let storage: SqliteStorage;
let calls: number;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  calls = 0;
});
afterEach(() => storage.close());

/** A call with ten input and five output tokens. */
function put(
  startedAt: string,
  credits: bigint,
  { owner = "alice", tokenId = "a1", model = "small", tags = {}, usage = {}, first = 90 } = {},
) {
  calls += 1;
  storage.handle
    .query(
      `INSERT INTO entries (id, owner, debit_account, operation, provider, model, streamed, status, outcome, usage,
         input_tokens, output_tokens, amount, ms, first_byte_ms, started_at, tags, kind, credit_account, held, shortfall, created_at)
       VALUES (?, ?, ?, 'chat', 'openai', ?, 0, 200, 'complete', ?, 10, 5, ?, 1, ?, ?, nullif(?, '{}'),
         'settle', 'revenue', 0, 0, 0)`,
    )
    .run(
      `req_${calls}`,
      owner,
      `token:${tokenId}`,
      model,
      JSON.stringify(usage),
      credits,
      first,
      Date.parse(startedAt),
      JSON.stringify(tags),
    );
}

async function ask(query: string, principal: Partial<Principal> = {}): Promise<unknown> {
  const services = { generations: openGenerationStore(storage), clock: () => now, groupsMax: 3 };
  const body = await askRoute(usageRoute, services, { query, principal });
  expect(usageAnswer.parse(body) as unknown).toEqual(body);
  return body;
}

const entry = (requests: number, credits: number) => ({
  object: "usage",
  requests,
  failures: 0,
  list_credits: 0,
  input_tokens: 10 * requests,
  output_tokens: 5 * requests,
  credits,
});
const total = (requests: number, credits: number) => {
  const { object: _, ...sums } = entry(requests, credits);
  return sums;
};

describe("usage", () => {
  test("is by day over the last thirty days by default", async () => {
    put("2026-10-22T23:59:59.999Z", 1_000_000_000n);
    put("2026-10-23T00:00:00Z", 100_000_000n);
    put("2026-11-21T08:29:00Z", 200_000_000n);
    put("2026-11-21T00:00:00Z", 1n);
    expect(await ask("")).toEqual({
      object: "list",
      data: [
        { day: "2026-10-23", ...entry(1, 0.1) },
        { day: "2026-11-21", ...entry(2, 0.200000001) },
      ],
      total: total(3, 0.300000001),
      from: "2026-10-23T00:00:00.000Z",
      to: "2026-11-22T00:00:00.000Z",
      group_by: "day",
    });
  });

  test("is by several dimensions, and by longer intervals", async () => {
    put("2026-11-02T00:00:00Z", 1_000_000_000n);
    put("2026-11-04T00:00:00Z", 2_000_000_000n);
    put("2026-11-09T00:00:00Z", 4_000_000_000n, { tokenId: "a2" });
    const by = { provider: "openai", operation: "chat" };
    expect(await ask("?group_by=operation,day,provider&interval=week")).toMatchObject({
      data: [
        { day: "2026-11-02", ...by, ...entry(2, 3) },
        { day: "2026-11-09", ...by, ...entry(1, 4) },
      ],
      total: total(3, 7),
      group_by: ["day", "provider", "operation"],
    });
    expect(await ask("?group_by=end_user")).toMatchObject({ data: [{ end_user: null, ...entry(3, 7) }] });
    const thrown: unknown = await ask("?group_by=day,model&limit=5").catch((reason: unknown) => reason);
    expect(thrown).toHaveProperty("param", "limit");
  });

  test.each(["?group_by=day,session&from=0001-01-01&to=9999-12-31", "?group_by=day,end_user&interval=month&from=0"])(
    "by day of sessions is of a bounded time: %s",
    async (query) => {
      const thrown: unknown = await ask(query).catch((reason: unknown) => reason);
      expect(thrown).toMatchObject({ code: "validation_failed", param: "from" });
      expect(await ask("?group_by=day&from=0001-01-01&to=9999-12-31")).toMatchObject({ data: [] });
      expect(await ask("?group_by=session,model&from=0001-01-01&to=9999-12-31")).toMatchObject({ data: [] });
    },
  );

  test("is of the calls with the values of the filter, whatever it is by", async () => {
    put("2026-11-02T00:00:00Z", 1_000_000_000n);
    put("2026-11-02T00:00:00Z", 2_000_000_000n, { tokenId: "a2", tags: { team: "search" } });
    put("2026-11-04T12:00:00Z", 4_000_000_000n, { model: "large", tags: { team: "other", env: "dev" } });
    put("2026-11-04T12:00:00Z", 8_000_000_000n, { owner: "bob", tags: { team: "search" } });
    for (const [filter, days] of [
      ["tag:team=search", { "2026-11-02": 2 }],
      ["tag:team=", { "2026-11-02": 1 }],
      ["tag:env=dev&tag:team=other", { "2026-11-04": 4 }],
      ["tag:env=dev&tag:team=search", {}],
      ["token=a2", { "2026-11-02": 2 }],
      ["provider=openai&model=openai/large", { "2026-11-04": 4 }],
      ["operation=chat", { "2026-11-02": 3, "2026-11-04": 4 }],
      ["session=s", {}],
    ] as const) {
      const rows = Object.entries(days).map(([day, credits]) => expect.objectContaining({ day, credits }) as object);
      const credits = Object.values(days).reduce((sum: number, each) => sum + each, 0);
      expect([filter, await ask(`?${filter}`)]).toMatchObject([filter, { data: rows, total: { credits } }]);
    }
    for (const param of ["tag:", "tag:a b", "token"]) {
      const thrown: unknown = await ask(`?${param}=`).catch((reason: unknown) => reason);
      expect(thrown).toMatchObject({ code: "validation_failed", param });
    }
  });

  test("has the buckets and the times to the first token of one's own calls, if they are asked for", async () => {
    put("2026-11-02T00:00:00Z", 1n, { usage: { input: 4, cacheRead: 6 } });
    put("2026-11-02T00:00:00Z", 1n, { owner: "bob", usage: { cacheRead: 7 }, first: 900 });
    const details = {
      buckets: { input: 4, cache_read: 6, output: 5 },
      first_token_ms: { p50: 100, p95: 100, p99: 100, count: 1 },
    };
    const answer = await ask("?include=buckets,first_token_ms");
    expect(answer).toMatchObject({ data: [{ day: "2026-11-02", ...details }], total: details });
  });

  test("is empty without calls", async () => {
    expect(await ask("")).toMatchObject({ data: [], total: total(0, 0) });
  });

  test("has an inclusive `from` and an exclusive `to`", async () => {
    for (const day of ["01", "02", "03"]) put(`2026-11-${day}T00:00:00Z`, 1_000_000_000n);
    expect(await ask("?from=2026-11-01&to=2026-11-03")).toMatchObject({ total: total(2, 2) });
    const seconds = Date.parse("2026-11-02") / 1000;
    expect(await ask(`?from=${seconds}&to=${seconds + 1}`)).toMatchObject({ total: total(1, 1) });
    expect(await ask("?from=2026-11-02T02:00:00%2B02:00&to=2026-11-02T02:00:00+02:00")).toMatchObject({ data: [] });
  });

  test("is by model or by token on request", async () => {
    put("2026-11-20", 1_000_000_000n, { model: "org/large" });
    put("2026-11-20", 1_500_000_000n);
    put("2026-11-20", 0n, { tokenId: "a2" });
    expect(await ask("?group_by=model")).toMatchObject({
      data: [
        { model: "openai/small", ...entry(2, 1.5) },
        { model: "openai/org/large", ...entry(1, 1) },
      ],
      group_by: "model",
    });
    expect(await ask("?group_by=token")).toMatchObject({
      data: [
        { token_id: "a1", ...entry(2, 2.5) },
        { token_id: "a2", ...entry(1, 0) },
      ],
      group_by: "token",
    });
  });

  test("is by session in pages on request", async () => {
    for (const session of ["b", "a", "b", null]) {
      put("2026-11-20", 1_000_000_000n);
      storage.handle.run("UPDATE entries SET session = ? WHERE id = ?", [session, `req_${calls}`]);
    }
    expect(await ask("?group_by=session&limit=1")).toMatchObject({
      data: [{ session: "a", ...entry(1, 1) }],
      total: total(4, 4),
      next_cursor: "a",
      group_by: "session",
    });
    const last = await ask("?group_by=session&limit=1&cursor=a");
    expect(last).toMatchObject({ data: [{ session: "b", ...entry(2, 2) }], total: total(4, 4) });
    expect(last).not.toHaveProperty("next_cursor");
    expect(await ask("?group_by=session&cursor=b")).toMatchObject({ data: [], total: total(4, 4) });
  });

  test("by session is not known of a time whose calls have been removed", async () => {
    const closed = "UPDATE ledger_state SET closed_before = ?1, sealed_before = ?1, removed_before = ?1";
    storage.handle.run(closed, [Date.parse("2026-11-10")]);
    const thrown = await ask("?group_by=session&from=2026-11-09").catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ code: "validation_failed", status: 422, param: "from" });
    expect(await ask("?group_by=session&from=2026-11-10")).toMatchObject({ data: [] });
  });

  test("is the user's, by any of their tokens, and nobody else's", async () => {
    put("2026-11-20", 1n, { owner: "bob", tokenId: "b1" });
    put("2026-11-20", 2_000_000_000n);
    const second = { tokenId: "a2", accountId: "token:a2" };
    expect(await ask("?user=bob&owner=bob", second)).toMatchObject({ total: total(1, 2) });
    expect(await ask("?token=b1", second)).toMatchObject({ data: [], total: total(0, 0) });
  });
});

describe("an invalid query", () => {
  test.each<[string, string, RegExp]>([
    ["?from=yesterday", "from", /^from: write a date \(2026-11-21\)/],
    ["?from=", "from", /^from: write a date/],
    ["?to=2026-02-30", "to", /^to: write a date/],
    ["?to=1700000000000", "to", /^to: write a date/],
    ["?from=2026-11-02&to=2026-11-01", "from", /^from: lies after to/],
    ["?from=2026-12-01", "from", /^from: lies after to/],
    ["?group_by=hour", "group_by", /one or several of day, token, provider, model/],
    ["?group_by=", "group_by", /one or several of day, token, provider, model/],
    ["?group_by=Day", "group_by", /one or several of day, token, provider, model/],
    ["?limit=5", "limit", /^limit: only sessions have pages/],
    ["?group_by=model&cursor=a", "cursor", /^cursor: only sessions have pages/],
    ["?group_by=session&limit=0", "limit", /^limit: /],
    ["?group_by=session&limit=1001", "limit", /^limit: /],
    ["?group_by=session&cursor=", "cursor", /^cursor: /],
    ["?group_by=day&group_by=model", "group_by", /^group_by: is given more than once/],
    ["?from=2026-11-01&from=2026-11-01", "from", /^from: is given more than once/],
  ])("is refused by its parameter: %s", async (query, param, message) => {
    const thrown = await ask(query).catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ code: "validation_failed", status: 422, param });
    expect(thrown).toHaveProperty("message", expect.stringMatching(message));
  });

  test("with too many groups is refused too", async () => {
    for (const model of ["a", "b", "c"]) put("2026-11-20", 1n, { model });
    expect(await ask("?group_by=model")).toHaveProperty("data.length", 3);
    put("2026-11-20", 1n, { model: "d" });
    const refusal = {
      code: "validation_failed",
      param: "group_by",
      message: "group_by: there are more than 3 groups by model. Ask for a shorter time.",
    };
    expect(await ask("?group_by=model").catch((reason: unknown) => reason)).toMatchObject(refusal);
    expect(await ask("")).toMatchObject({ total: { requests: 4 } });
  });
});
