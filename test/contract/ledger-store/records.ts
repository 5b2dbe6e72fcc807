/** The row that is written of a call, in the commit that ends it. */
import { expect, test } from "bun:test";
import { plainToken } from "../../kit/plain-token.ts";
import type { TokenRecord } from "../../../src/auth/index.ts";
import { parseObject } from "../../../src/core/index.ts";
import type { CallRecord } from "../../../src/ledger/index.ts";
import {
  conflict,
  expectCleanBooks,
  exists,
  grant,
  hold,
  keep,
  minute,
  noHold,
  noon,
  type OpenedLedgerStore,
  type OpenLedgerStore,
  organisation,
  release,
  released,
  renew,
  settle,
  settled,
  settledBefore,
  sweep,
  token,
  user,
} from "./world.ts";

const company = organisation("company");
const alice = user("alice", { prepaid: true, parentId: company.id });
const key = token("key", { parentId: alice.id });
const leased = { leaseUntil: noon + minute };
const late = noon + 2 * minute;

const record: CallRecord = {
  owner: "alice",
  operation: "chat",
  dialect: "messages",
  provider: "claude",
  model: "some-model",
  streamed: true,
  status: 200,
  outcome: "complete",
  usage: { input: 10, cacheRead: 5, output: 7, reasoning: 2, requests: 1 },
  milliseconds: 1_234.5,
  millisecondsToFirstByte: 78.25,
  startedAt: noon - 1_234,
};

/** A row of `generations`, as either engine gives it. */
interface Generation {
  id: string;
  owner: string;
  account: string;
  operation: string;
  dialect: string | null;
  provider: string;
  model: string;
  streamed: boolean;
  status: number;
  outcome: string;
  usage: unknown;
  tokens: [input: number, output: number];
  credits: bigint;
  milliseconds: [total: number, firstByte: number | null];
  startedAt: number;
  parent: string | null;
  session: string | null;
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOrNull = (value: unknown): number | null => (value === null ? null : Number(value));

async function generationsOf({ query }: Pick<OpenedLedgerStore, "query">): Promise<Generation[]> {
  const rows = await query("SELECT * FROM generations ORDER BY id");
  return rows.map((row) => ({
    id: String(row["id"]),
    owner: String(row["owner"]),
    account: String(row["account_id"]),
    operation: String(row["operation"]),
    dialect: textOrNull(row["dialect"]),
    provider: String(row["provider"]),
    model: String(row["model"]),
    streamed: Boolean(Number(row["streamed"])),
    status: Number(row["status"]),
    outcome: String(row["outcome"]),
    usage: parseObject(String(row["usage"])),
    tokens: [Number(row["input_tokens"]), Number(row["output_tokens"])],
    credits: BigInt(String(row["credits"])),
    milliseconds: [Number(row["ms"]), numberOrNull(row["first_byte_ms"])],
    startedAt: Number(row["started_at"]),
    parent: textOrNull(row["parent"]),
    session: textOrNull(row["session"]),
  }));
}

/** `record` as it is written. */
const written = (id: string, credits: bigint, rest: Partial<Generation> = {}): Generation => ({
  id,
  owner: "alice",
  account: key.id,
  operation: "chat",
  dialect: "messages",
  provider: "claude",
  model: "some-model",
  streamed: true,
  status: 200,
  outcome: "complete",
  usage: record.usage,
  tokens: [15, 9],
  credits,
  milliseconds: [1_234.5, 78.25],
  startedAt: noon - 1_234,
  parent: null,
  session: null,
  ...rest,
});

/** The ledger's own record of a call whose hold expired at `late`. */
const expired = (id: string, credits: bigint, rest: Partial<Generation> = {}): Generation => ({
  ...written(id, credits),
  dialect: null,
  provider: "openai",
  streamed: false,
  status: 0,
  outcome: "expired",
  usage: {},
  tokens: [0, 0],
  milliseconds: [late - noon, null],
  startedAt: noon,
  ...rest,
});

/** A chain of three with 100 credits. */
async function opened(open: OpenLedgerStore): Promise<OpenedLedgerStore> {
  const each = await open();
  for (const account of [company, alice, key]) await each.store.putAccount(account, noon);
  await each.store.commit([grant("g", alice.id, 100n)]);
  return each;
}

function describeEnds(open: OpenLedgerStore): void {
  test("a settlement stores the call with its charge", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n), settle("a", 8n, noon, { record })]);
    expect(await generationsOf(each)).toEqual([written("a", 8n)]);
    await each.close();
  });

  test("the unpaid part is not in the record", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n), settle("a", 130n, noon, { record })]);
    expect(await generationsOf(each)).toEqual([written("a", 100n)]);
    await each.close();
  });

  test("a release writes a call that cost nothing", async () => {
    const each = await opened(open);
    const failed: CallRecord = {
      ...record,
      dialect: undefined,
      streamed: false,
      status: 503,
      outcome: "failed",
      usage: {},
      milliseconds: 3,
      millisecondsToFirstByte: undefined,
    };
    await each.store.commit([hold("a", key.id, 20n), release("a", noon, { record: failed })]);
    expect(await generationsOf(each)).toEqual([
      written("a", 0n, {
        dialect: null,
        streamed: false,
        status: 503,
        outcome: "failed",
        usage: {},
        tokens: [0, 0],
        milliseconds: [3, null],
      }),
    ]);
    await each.close();
  });

  test("many calls that end in one commit are each written, those without a record are not", async () => {
    const each = await opened(open);
    const ids = ["a", "b", "c", "d"];
    await each.store.commit(ids.map((id) => hold(id, key.id, 10n)));
    await each.store.commit([
      settle("a", 1n, noon, { record }),
      settle("b", 2n),
      release("c", noon, { record: { ...record, outcome: "interrupted", model: 'ü"\\{},' } }),
      settle("d", 4n, noon, { record: { ...record, outcome: "abandoned", usage: { inputAudio: 3, outputAudio: 4 } } }),
    ]);
    expect(await generationsOf(each)).toEqual([
      written("a", 1n),
      written("c", 0n, { outcome: "interrupted", model: 'ü"\\{},' }),
      written("d", 4n, { outcome: "abandoned", usage: { inputAudio: 3, outputAudio: 4 }, tokens: [3, 4] }),
    ]);
    await each.close();
  });

  test("an expired call belongs to the id of its user, whatever their name is by then", async () => {
    const each = await opened(open);
    await each.tokens.insert({ ...plainToken, id: "key", user: "alice", accountId: key.id });
    await each.query("UPDATE accounts SET name = 'anna' WHERE id = 'user:alice'");
    await each.store.commit([hold("a", key.id, 20n, { leaseUntil: noon + 1 }), sweep(late)]);
    expect((await generationsOf(each)).map(({ owner }) => owner)).toEqual(["alice"]);
    await each.close();
  });

  test("only the end of a hold stores a record: not a repeated end, nor a conflict, nor an end without a hold", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n), settle("a", 8n, noon, { record }), hold("b", key.id, 20n)]);
    const again = { record: { ...record, owner: "mallory" } };
    const outcomes = await each.store.commit([
      settle("a", 8n, noon, again),
      settle("a", 9n, noon, again),
      release("a", noon, again),
      settle("x", 1n, noon, again),
      release("y", noon, again),
      release("b"),
      release("b", noon, again),
    ]);
    expect(outcomes).toEqual([settledBefore(), conflict, conflict, noHold, noHold, released, exists]);
    expect(await generationsOf(each)).toEqual([written("a", 8n)]);
    await each.close();
  });

  test("a commit that fails half way has written nothing", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n)]);
    // No caller asks for a negative hold; the schema refuses it.
    const failing = async (): Promise<unknown> =>
      each.store.commit([settle("a", 8n, noon, { record }), hold("negative", key.id, -1n)]);
    const failure = await failing().then(
      () => "applied",
      () => "failed",
    );
    expect(failure).toBe("failed");
    expect(await generationsOf(each)).toEqual([]);
    await each.close();
  });
}

const service: TokenRecord = {
  ...plainToken,
  id: "s",
  user: "robot",
  accountId: "token:s",
  service: true,
  createdAt: noon,
};

function describeExpiries(open: OpenLedgerStore): void {
  test("of a call that expired its description, its user and its time are written", async () => {
    const each = await opened(open);
    await each.store.commit([
      hold("a", key.id, 20n, leased),
      hold("b", key.id, 20n, leased),
      hold("c", alice.id, 20n, leased),
      renew("b", noon + minute, 15n),
      sweep(late),
    ]);
    expect(await generationsOf(each)).toEqual([
      expired("a", 0n),
      expired("b", 15n),
      expired("c", 0n, { account: alice.id }),
    ]);
    await expectCleanBooks(each.store);
    await each.close();
  });

  test("the unpaid part of an expired call is not in its row", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n, leased), renew("a", noon + minute, 130n), sweep(late)]);
    expect(await generationsOf(each)).toEqual([expired("a", 100n)]);
    await each.close();
  });

  test("of a call that expired its dialect is written, and that it was streamed", async () => {
    const each = await opened(open);
    const call = { operation: "responses", dialect: "responses", streamed: true } as const;
    const asked = hold("a", key.id, 20n, leased);
    // Through the general function of Postgres, and through the plain one.
    await each.store.commit([{ ...asked, ...call, retry: { key: "k", fingerprint: "f" } }]);
    await each.store.commit([{ ...asked, ...call, id: "b" }]);
    await each.store.commit([sweep(late)]);
    expect(await generationsOf(each)).toEqual([expired("a", 0n, call), expired("b", 0n, call)]);
    await each.close();
  });

  test("a model's id is all that follows its prefix", async () => {
    const each = await opened(open);
    const call = { provider: "ollama", model: "org/some model:7b" };
    await each.store.commit([{ ...hold("a", key.id, 20n, leased), ...call }]);
    expect(await each.store.openHolds()).toMatchObject([{ description: "chat ollama/org/some model:7b" }]);
    await each.store.commit([sweep(late)]);
    expect(await generationsOf(each)).toEqual([expired("a", 0n, call)]);
    await each.close();
  });

  test("the calls of a token without a user above it are those of the user it was made for", async () => {
    const each = await opened(open);
    for (const account of [token("s"), token("lone"), token("firm", { parentId: company.id })]) {
      await each.store.putAccount(account, noon);
    }
    await each.tokens.insert(service);
    await each.store.commit([
      hold("a", "token:s", 20n, leased),
      hold("b", "token:lone", 20n, leased),
      hold("c", "token:firm", 20n, leased),
      sweep(late),
    ]);
    const owners = (await generationsOf(each)).map(({ id, owner }) => [id, owner]);
    expect(owners).toEqual([
      ["a", "robot"],
      ["b", "lone"],
      ["c", "firm"],
    ]);
    await each.close();
  });
}

function describeLateEnds(open: OpenLedgerStore): void {
  test("a late end replaces the expiry's record, with the total charge", async () => {
    const each = await opened(open);
    const ids = ["dearer", "cheaper", "free"];
    await each.store.commit([
      ...ids.flatMap((id) => [hold(id, key.id, 20n, leased), renew(id, noon + minute, 15n)]),
      sweep(late),
    ]);
    expect(await generationsOf(each)).toEqual([expired("cheaper", 15n), expired("dearer", 15n), expired("free", 15n)]);
    const outcomes = await each.store.commit([
      settle("dearer", 18n, late, { record }),
      settle("cheaper", 7n, late, { record }),
      release("free", late, { record: { ...record, outcome: "abandoned" } }),
    ]);
    expect(outcomes).toEqual([settled(), settled(), released]);
    expect(await generationsOf(each)).toEqual([
      written("cheaper", 7n),
      written("dearer", 18n),
      written("free", 0n, { outcome: "abandoned" }),
    ]);
    await expectCleanBooks(each.store);
    await each.close();
  });

  test("a late end with a shortfall is stored with the total charge", async () => {
    const each = await opened(open);
    await each.store.commit([
      hold("a", key.id, 20n, leased),
      renew("a", noon + minute, 15n),
      sweep(late),
      hold("rest", key.id, 80n),
    ]);
    expect(await each.store.commit([settle("a", 50n, late, { record })])).toEqual([settled(30n)]);
    expect(await generationsOf(each)).toEqual([written("a", 20n)]);
    await each.close();
  });

  test("a late end without a record corrects the charge, and the same end again nothing", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n, leased), renew("a", noon + minute, 15n), sweep(late)]);
    expect(await each.store.commit([settle("a", 18n, late)])).toEqual([settled()]);
    expect(await generationsOf(each)).toEqual([expired("a", 18n)]);
    expect(await each.store.commit([settle("a", 18n, late, { record })])).toEqual([settledBefore()]);
    expect(await generationsOf(each)).toEqual([expired("a", 18n)]);
    await each.close();
  });

  test("an expiry and its late end in one commit leave the call's own record", async () => {
    const each = await opened(open);
    await each.store.commit([
      hold("a", key.id, 20n, leased),
      renew("a", noon + minute, 15n),
      sweep(late),
      settle("a", 18n, late, { record }),
    ]);
    expect(await generationsOf(each)).toEqual([written("a", 18n)]);
    await each.close();
  });
}

function describeSeries(open: OpenLedgerStore): void {
  const series = { parent: "session-1", session: "thread-1" };

  test("a call of a series has it as its parent, and the session of its client, however it ends", async () => {
    const each = await opened(open);
    const own = { record: { ...record, ...series } };
    // In the first commit, before the chain is known, and in later ones.
    await each.store.commit([hold("a", key.id, 5n, series), hold("b", key.id, 5n, series), settle("a", 3n, noon, own)]);
    await each.store.commit([hold("c", key.id, 5n, series), hold("d", key.id, 5n), release("b", noon, own)]);
    await each.store.commit([settle("c", 4n, noon, own), settle("d", 1n, noon, { record })]);
    expect(await generationsOf(each)).toEqual([
      written("a", 3n, series),
      written("b", 0n, series),
      written("c", 4n, series),
      written("d", 1n),
    ]);
    await each.close();
  });

  test("a call has its route, its requests to upstreams and the code of its error, however it ends", async () => {
    const each = await opened(open);
    const tried = [
      {
        number: 1,
        provider: "a",
        model: "m",
        key: "k",
        class: "overloaded",
        status: 503,
        startedAt: noon,
        milliseconds: 1.5,
      },
      { number: 2, provider: "b", model: `Ω ' \\ " ,(){} \n`, key: "l", status: 200, startedAt: noon, milliseconds: 2 },
    ];
    const errorCode = "insufficient_credits";
    const names = { route: `fast ' \\ " ,(){}`, upstreamRequestId: "theirs", attempts: tried, errorCode };
    const routed = { record: { ...record, ...names } };
    // Through the general function of Postgres, through the plain one, and late.
    await each.store.commit([
      hold("a", key.id, 5n),
      hold("b", key.id, 5n),
      hold("late", key.id, 5n, leased),
      settle("a", 3n, noon, routed),
    ]);
    await each.store.commit([hold("c", key.id, 5n), hold("d", key.id, 5n), release("b", noon, routed)]);
    await each.store.commit([settle("c", 4n, noon, routed), settle("d", 1n, noon, { record })]);
    await each.store.commit([sweep(late)]);
    await each.store.commit([settle("late", 2n, late, routed)]);
    const rows = await each.query(
      "SELECT id, route, upstream_request_id, attempts, error_code FROM generations ORDER BY id",
    );
    const requests = { upstream_request_id: "theirs", attempts: JSON.stringify(tried) };
    const all = { route: names.route, ...requests, error_code: errorCode };
    const none = { route: null, upstream_request_id: null, attempts: null, error_code: null };
    expect(rows).toEqual([
      { id: "a", ...all },
      { id: "b", ...all },
      { id: "c", ...all },
      { id: "d", ...none },
      { id: "late", ...all },
    ]);
    await each.close();
  });

  test("the ledger's own record of an expired call has the parent and the session of its hold", async () => {
    const each = await opened(open);
    await each.store.commit([hold("a", key.id, 20n, { ...leased, ...series })]);
    await each.store.commit([hold("b", key.id, 20n, { ...leased, ...series }), hold("c", key.id, 20n, leased)]);
    await each.store.commit([keep("job", "b", noon + minute), sweep(late)]);
    expect(await generationsOf(each)).toEqual([expired("a", 0n, series), expired("b", 20n, series), expired("c", 0n)]);
    // A late end without a record leaves them; one with a record replaces it.
    await each.store.commit([settle("a", 5n, late), settle("b", 7n, late, { record })]);
    await each.store.commit([settle("c", 9n, late, { record: { ...record, ...series } })]);
    expect(await generationsOf(each)).toEqual([expired("a", 5n, series), written("b", 7n), written("c", 9n, series)]);
    await expectCleanBooks(each.store);
    await each.close();
  });

  test("a parent and a session may be any text", async () => {
    const each = await opened(open);
    const parent = `Ω ' \\ " ,(){} \n`;
    await each.store.commit([
      hold("a", key.id, 5n, { ...leased, parent, session: parent }),
      hold("b", key.id, 5n, { ...leased, parent, session: parent }),
    ]);
    await each.store.commit([
      hold("c", key.id, 5n, { ...leased, parent, session: parent }),
      settle("b", 5n, noon, { record: { ...record, parent, session: parent } }),
    ]);
    await each.store.commit([sweep(late)]);
    const rows = await generationsOf(each);
    expect(rows.flatMap((row) => [row.parent, row.session])).toEqual(Array<string>(6).fill(parent));
    await each.close();
  });
}

export function describeRecords(open: OpenLedgerStore): void {
  describeSeries(open);
  describeEnds(open);
  describeExpiries(open);
  describeLateEnds(open);
}
