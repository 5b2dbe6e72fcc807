/**
 * The migration of databases that were made by the version before jobs (`__fixtures__/sqlite-step-6.sql`,
 * `postgres-step-4.sql`): they read as they did in that version (`before-jobs.json`), and open calls go on.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openHolderStore } from "../../src/accounts/index.ts";
import { openTokenStore } from "../../src/auth/index.ts";
import { openGenerationStore, type UsageGrouping } from "../../src/generations/index.ts";
import { type Hold, type LedgerStore, openLedgerStore } from "../../src/ledger/index.ts";
import { openResponseStore, type StoredResponse } from "../../src/objects/index.ts";
import type { PostgresStorage, Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { engines } from "../kit/index.ts";
import before from "./__fixtures__/before-jobs.json";
import { earlierVersion } from "./dumps.ts";

const noon = Date.UTC(2026, 10, 22, 12);
const minute = 60_000;
/** The moment at which that version read the database. */
const at = noon + 11 * minute;
/** All leases have run out then. */
const lapsed = noon + 14 * minute;

const key = "token:ann-1";
const hold = (id: string, rest: Partial<Hold> = {}): Hold => ({
  kind: "hold",
  id,
  accountId: key,
  amount: 30n,
  operation: "chat",
  provider: "claude",
  model: "some-model",
  dialect: undefined,
  streamed: false,
  at,
  leaseUntil: at + minute,
  ...rest,
});

let storage: Storage;
let ledger: LedgerStore;

const copyFor = earlierVersion({ sqlite: "sqlite-step-6.sql", postgres: "postgres-step-4.sql" });

/** The value in the notation of the fixture: a bigint as "1n", bytes as "0x00", no undefined members. */
function inNotation(value: unknown): unknown {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, name, given: unknown) {
    const each = this[name];
    if (typeof each === "bigint") return `${each}n`;
    return each instanceof Uint8Array ? `0x${each.toHex()}` : given;
  });
  return JSON.parse(text);
}

async function creditsOf(id: string, owner = "ann"): Promise<bigint | undefined> {
  return (await openGenerationStore(storage).find(id, owner))?.credits;
}

describe.each(engines)("a database of the previous version, on %s,", (engine) => {
  beforeEach(async () => {
    storage = await openStorage(await copyFor(engine));
    ledger = openLedgerStore(storage);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toMatchObject({ drifts: [] });
    await storage.close();
  });

  test("has its accounts, balances, books and tokens", async () => {
    expect(inNotation(await ledger.listAccounts(at))).toEqual(before.accounts);
    expect(inNotation(await ledger.audit())).toEqual(before.audit);
    // Ben had an administrating token: it has become an owner's.
    const tokens = before.tokens.map(({ admin, ...token }) => ({
      ...token,
      ...(admin && { role: "owner" }),
      version: 1,
    }));
    const found = await openTokenStore(storage).list();
    expect(found.map(({ userName }) => userName)).toEqual(tokens.map(({ user }) => user));
    const ofHolders = { userName: undefined, userRole: undefined, organisation: undefined };
    expect(inNotation(found.map((token) => ({ ...token, ...ofHolders })))).toEqual(tokens);
    const holders = openHolderStore(storage);
    expect(await holders.find("user", "ben")).toMatchObject({ id: "ben", role: "owner", accountId: "user:ben" });
    expect(await holders.find("user", "ann")).toMatchObject({ id: "ann", role: "member" });
    expect(await holders.find("user", "machine")).toMatchObject({ role: "member", accountId: undefined });
  });

  test("has its open holds, each kept by its process", async () => {
    const kept = before.openHolds.map((each) => ({ ...each, keeper: "process" }));
    expect(inNotation(await ledger.openHolds())).toEqual(kept);
  });

  test("has every ended call, without a parent", async () => {
    const store = openGenerationStore(storage);
    for (const call of Object.values(before.generations)) {
      expect(inNotation(await store.find(call.id, call.owner))).toEqual({
        ...call,
        accountId: expect.any(String) as string,
      });
    }
    for (const id of ["settled-unrecorded", "released-unrecorded", "open-plain"])
      expect(await store.find(id, "ann")).toBeUndefined();
    // Up to a part of a day, and in whole days, from the sums that the migration has built.
    for (const to of [at, Date.UTC(2026, 10, 23)]) {
      const usage = (owner: string, groupBy: UsageGrouping) =>
        store.usage({ owner, from: 0, to, groupBy, groupsMax: 99 });
      const read = { ann: await usage("ann", "day"), annByToken: await usage("ann", "token") };
      const others = { ben: await usage("ben", "model"), machine: await usage("machine", "model") };
      expect(inNotation({ ...read, ...others })).toMatchObject(before.usage);
    }
  });

  test("has its retry keys: an answer is given again, a claim is held until its call ends", async () => {
    const again = (name: string): Hold => hold(`again-${name}`, { retry: { key: name, fingerprint: `of ${name}` } });
    expect(inNotation(await ledger.commit([again("answered"), again("running")]))).toEqual(before.answers);
    await ledger.commit([{ kind: "release", id: "open-claim", at }]);
    expect(await ledger.commit([again("running"), again("freed")])).toEqual([{ outcome: "held" }, { outcome: "held" }]);
  });

  test("has its responses, and stores new ones with their key", async () => {
    const store = openResponseStore(storage);
    const read = [await store.find("resp_upstream", "ben", at), ...(await store.chain("resp_second", "ann", at))];
    expect(inNotation(read)).toEqual(before.responses);
    const [first] = await store.chain("resp_first", "ann", at);
    const third: StoredResponse = {
      ...(first as StoredResponse),
      id: "resp_third",
      previousId: "resp_second",
      keyId: "a1",
    };
    await store.put(third);
    const chain = await store.chain("resp_third", "ann", at);
    expect(chain.map(({ id, keyId }) => [id, keyId])).toEqual([
      ["resp_first", undefined],
      ["resp_second", undefined],
      ["resp_third", "a1"],
    ]);
  });

  test("counts on in the minute that was running", async () => {
    const rates = { requestsPerMinute: 4, tokensPerMinute: 9_000, concurrentCalls: 9 };
    const next = { at: noon + 10 * minute + 59_999, rates, tokens: 7 };
    // Three calls with 40, 300 and 40 tokens were counted, all of them open.
    const seen = { requests: 4, tokens: 387, calls: 4, minuteEndsAt: at };
    expect(await ledger.commit([hold("fourth", next), hold("fifth", next)])).toEqual([
      { outcome: "held", rates: seen },
      { outcome: "limited", limit: "requestsPerMinute", rates: seen },
    ]);
  });

  test("lets its open calls end: settled, raised, released, and left behind", async () => {
    const { debitsPosted } = (await ledger.chain("user:ann", at))[0] ?? { debitsPosted: 0n };
    expect(
      await ledger.commit([
        { kind: "settle", id: "open-plain", amount: 40n, at },
        { kind: "top-up", id: "open-raised", amount: 120n, at },
        { kind: "release", id: "open-claim", at },
        { kind: "renew", id: "open-robot", leaseUntil: lapsed, observed: undefined, keeper: "job" },
      ]),
    ).toEqual([
      { outcome: "settled", shortfall: 0n },
      { outcome: "raised" },
      { outcome: "released" },
      { outcome: "renewed" },
    ]);
    expect(await ledger.commit([{ kind: "sweep", at: lapsed + 1 }])).toEqual([{ outcome: "swept", expired: 3 }]);
    // Charged as observed, not at all, and in full for the job.
    expect(await Promise.all([creditsOf("open-observed"), creditsOf("open-raised")])).toEqual([150n, 0n]);
    expect(await creditsOf("open-robot", "machine")).toBe(70n);
    expect(await ledger.chain("user:ann", at)).toMatchObject([
      { debitsPosted: debitsPosted + 190n, debitsPending: 0n },
      {},
    ]);
  });

  test("lets calls that expired in it still end late", async () => {
    const record = { owner: "ann", operation: "chat", dialect: "chat", provider: "p", model: "m" } as const;
    const end = { streamed: true, status: 200, outcome: "complete", usage: {}, milliseconds: 1 } as const;
    const own = { ...record, ...end, millisecondsToFirstByte: undefined, startedAt: at, parent: "session-1" };
    expect(
      await ledger.commit([
        { kind: "settle", id: "waits-late", amount: 5n, at, record: own },
        { kind: "settle", id: "waits-late-free", amount: 8n, at },
        { kind: "settle", id: "expired-late-more", amount: 35n, at },
      ]),
    ).toEqual([
      { outcome: "settled", shortfall: 0n },
      { outcome: "settled", shortfall: 0n },
      { outcome: "exists", shortfall: 0n },
    ]);
    const store = openGenerationStore(storage);
    expect(await store.find("waits-late", "ann")).toMatchObject({ credits: 5n, parent: "session-1" });
    expect(await store.find("waits-late-free", "ann")).toMatchObject({ credits: 8n, outcome: "expired" });
  });

  test("takes new calls, also of a series", async () => {
    const series = { parent: "session-1", leaseUntil: at };
    expect(await ledger.commit([hold("new", series), hold("other")])).toEqual([
      { outcome: "held" },
      { outcome: "held" },
    ]);
    await ledger.commit([
      { kind: "sweep", at: at + 1 },
      { kind: "settle", id: "other", amount: 9n, at },
    ]);
    expect(await openGenerationStore(storage).find("new", "ann")).toMatchObject({ parent: "session-1", credits: 0n });
  });
});

describe("nodes of the previous version that still run on Postgres", () => {
  let postgres: PostgresStorage;

  beforeEach(async () => {
    const opened = await openStorage(await copyFor("Postgres"));
    if (opened.engine !== "postgres") throw new Error("this is no Postgres");
    postgres = opened;
    ledger = openLedgerStore(opened);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toMatchObject({ drifts: [] });
    await postgres.close();
  });

  const account = "token:ann-2";
  /** The rows of the chain's accounts in the columns of that version, by their ids. */
  const linksOf = (columns: (isToken: boolean) => string): string => {
    const chain = [
      ["organisation:acme", ""],
      [account, "user:ann"],
      ["user:ann", "organisation:acme"],
    ] as const;
    const rows = chain.map(([id, parent]) =>
      columns(id === account)
        .replace("ID", id)
        .replace("PARENT", parent),
    );
    return `{${rows.map((row) => `"(${row})"`).join()}}`;
  };
  /** Resolves with null if the batch was not plain, and with the counts of rated accounts (here none) if it was applied. */
  const plain = async (links: string, holds = "{}", ends = "{}", changes = "{}"): Promise<unknown> => {
    const [row] = await postgres.statements.run<{ answer: unknown }>(
      "SELECT ledger_commit_plain($1, $2, $3, false, $4, $5, $6, $7) AS answer",
      [at, "req_a", "req_a", links, holds, ends, changes],
    );
    return row?.answer;
  };

  test("take, renew and end holds with their own plain function", async () => {
    const taken = linksOf((isToken) => `30,ID,PARENT,${isToken ? `1,5,${at}` : ",,"},,,,,,,,,,`);
    expect(await plain(taken, `{"(30,req_a,${account},chat p/m,${at + minute},${at},5)"}`)).toEqual([]);
    const open = (await ledger.openHolds()).find(({ id }) => id === "req_a");
    expect(open).toMatchObject({ amount: 30n, keeper: "process", leaseUntil: at + minute });

    const renewed = `{"(,${account},user:ann,,,,,,,,,,,,,)"}`;
    await ledger.commit([{ kind: "renew", id: "req_a", leaseUntil: lapsed, observed: undefined, keeper: "job" }]);
    expect(await plain(renewed, "{}", "{}", `{"(req_a,${account},30,30,${lapsed + 1},12)"}`)).toEqual([]);
    const changed = (await ledger.openHolds()).find(({ id }) => id === "req_a");
    expect(changed).toMatchObject({ keeper: "job", leaseUntil: lapsed + 1, observed: 12n });

    const returned = linksOf((isToken) => `,ID,PARENT,,,,30,8,${isToken ? "1" : ""},,,,,,,`);
    const call = `ann,chat,chat,p,m,f,200,complete,"{}",3,4,1.5,,${at}`.replaceAll('"', '\\"');
    expect(await plain(returned, "{}", `{"(settle,req_a,${account},30,8,${at},${call})"}`)).toEqual([]);
    storage = postgres;
    expect(await creditsOf("req_a")).toBe(8n);
  });

  test("commit everything else with the replaced general function, which knows the keepers of holds", async () => {
    const general = async (...operations: object[]) => {
      const [row] = await postgres.statements.run<{ outcomes: string[] }>("SELECT * FROM ledger_commit($1, $2, NULL)", [
        JSON.stringify(operations),
        ["1"],
      ]);
      return row?.outcomes;
    };
    const asked = { kind: "hold", id: "req_b", account, amount: "30", purpose: "chat p/m", at, tokens: 0 };
    expect(await general({ ...asked, lease_until: at + minute })).toEqual(["held"]);
    await ledger.commit([{ kind: "renew", id: "req_b", leaseUntil: at, observed: undefined, keeper: "job" }]);
    expect(await general({ kind: "renew", id: "req_b", lease_until: at + 1 })).toEqual(["renewed"]);
    expect(await general({ kind: "sweep", at: at + 2 })).toEqual(["swept"]);
    storage = postgres;
    expect(await creditsOf("req_b")).toBe(30n);
    const record = { owner: "ann", operation: "chat", dialect: null, provider: "p", model: "m", streamed: false };
    const end = { status: 200, outcome: "complete", usage: "{}", input_tokens: 1, output_tokens: 1, ms: 2 };
    const own = { ...record, ...end, first_byte_ms: null, started_at: at };
    expect(await general({ kind: "settle", id: "req_b", amount: "11", at: at + 3, record: own })).toEqual(["settled"]);
    expect(await creditsOf("req_b")).toBe(11n);
  });
});
