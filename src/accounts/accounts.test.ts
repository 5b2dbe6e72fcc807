import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { FoundToken } from "../auth/index.ts";
import { type AccountState, Ledger } from "../ledger/index.ts";
import type { Storage } from "../storage/index.ts";
import { createAccounts } from "../../test/kit/accounts.ts";
import { openStorage } from "../../test/kit/storage.ts";
import {
  AccountError,
  type AccountsDependencies,
  changeHolder,
  changeToken,
  createToken,
  findChain,
  grantCredits,
  listAccounts,
} from "./index.ts";

const credit = 1_000_000_000n;
const alice = { kind: "user", name: "alice" } as const;
const acme = { kind: "organisation", name: "acme" } as const;

let storage: Storage;
let deps: AccountsDependencies;
let ledger: Ledger;
let now: number;
let seed: number;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  now = 1_000_000;
  seed = 0;
  const environment = {
    clock: () => now,
    // Every byte differs from the one before, so that ids do too.
    randomBytes: (size: number) => Uint8Array.from({ length: size }, () => (seed = (seed * 73 + 41) % 251)),
  };
  deps = createAccounts(storage, environment, "cli:tester");
  ledger = new Ledger({ store: deps.accounts });
});
afterEach(() => storage.close());

async function recordOf(id: string): Promise<FoundToken> {
  const record = (await deps.tokens.list()).find((token) => token.id === id);
  if (record === undefined) throw new Error(`no token ${id}`);
  return record;
}

/** A hold by a token for this many credits, at this time. */
const holdOf = (token: string, credits: bigint) =>
  ({
    kind: "hold",
    id: "h",
    accountId: `token:${token}`,
    amount: credits * credit,
    operation: "chat",
    provider: "up",
    model: "m",
    dialect: undefined,
    streamed: false,
    at: now,
    leaseUntil: now + 1,
  }) as const;

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const reason: unknown = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(reason instanceof AccountError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason.message;
}

async function userOf(name: string): Promise<AccountState | undefined> {
  return (await deps.accounts.chain(`user:${name}`, now))[0];
}

describe("a new token", () => {
  test("is shown once and stored as a hash", async () => {
    const { token, id, user } = await createToken(deps, { user: "alice" });
    expect(token).toMatch(/^tg_[0-9a-z]{12}_[A-Za-z0-9_-]{43}$/);
    expect(user).toBe("alice");
    const [, shownId = "", ...rest] = token.split("_");
    expect(shownId).toBe(id);
    const { secretHash } = await recordOf(id);
    expect(Buffer.from(secretHash)).toEqual(createHash("sha256").update(rest.join("_")).digest());
  });

  test("may use everything without expiry by default", async () => {
    const { id } = await createToken(deps, { user: "alice" });
    const { secretHash: _, ...record } = await recordOf(id);
    expect(record).toEqual({
      id,
      user: "alice",
      userName: "alice",
      userRole: "member",
      accountId: `token:${id}`,
      service: false,
      role: undefined,
      name: undefined,
      models: undefined,
      rpm: undefined,
      tpm: undefined,
      concurrency: undefined,
      expiresAt: undefined,
      revokedAt: undefined,
      createdAt: now,
      pausedAt: undefined,
      previousHash: undefined,
      previousUntil: undefined,
      madeBy: "cli:tester",
      version: 1,
      userDisabledAt: undefined,
      organisation: undefined,
      organisationDisabledAt: undefined,
      markup: undefined,
    });
  });

  test("keeps the limits of its creation", async () => {
    const { id } = await createToken(deps, {
      user: "alice",
      rpm: 60,
      tpm: 5_000,
      concurrency: 4,
      models: ["openai/*", "xai/grok-4"],
      role: "owner",
      expiresInMs: 86_400_000,
      maxBudget: 5n * credit,
      period: "monthly",
    });
    expect(await recordOf(id)).toMatchObject({
      rpm: 60,
      tpm: 5_000,
      concurrency: 4,
      models: ["openai/*", "xai/grok-4"],
      role: "owner",
      service: false,
      expiresAt: now + 86_400_000,
    });
    const [account] = await deps.accounts.chain(`token:${id}`, now);
    expect(account).toMatchObject({
      kind: "token",
      name: id,
      prepaid: false,
      maxBudget: 5n * credit,
      period: "monthly",
    });
  });

  test("pays from its user's credits, which are created with the first token", async () => {
    const { id } = await createToken(deps, { user: "alice", credits: 10n * credit });
    const chain = await deps.accounts.chain(`token:${id}`, now);
    expect(chain).toMatchObject([
      { id: `token:${id}`, parentId: "user:alice", creditsPosted: 0n },
      {
        id: "user:alice",
        kind: "user",
        name: "alice",
        prepaid: true,
        maxBudget: undefined,
        creditsPosted: 10n * credit,
      },
    ]);
    expect(chain).toHaveLength(2);
  });

  test("of an existing user shares the credits and adds its own", async () => {
    const first = await createToken(deps, { user: "alice", credits: 10n * credit });
    const second = await createToken(deps, { user: "alice", credits: 5n * credit });
    expect(second.id).not.toBe(first.id);
    expect(second.token).not.toBe(first.token);
    expect(await userOf("alice")).toMatchObject({ creditsPosted: 15n * credit });
    const third = await createToken(deps, { user: "alice" });
    const chain = await deps.accounts.chain(`token:${third.id}`, now);
    expect(chain[1]).toMatchObject({ id: "user:alice", creditsPosted: 15n * credit });
  });

  test("leaves the limits of an existing user unchanged", async () => {
    await createToken(deps, { user: "alice" });
    const user = await userOf("alice");
    if (user === undefined) throw new Error("no user");
    await deps.accounts.putAccount({ ...user, maxBudget: 7n }, now);
    await createToken(deps, { user: "alice" });
    expect(await userOf("alice")).toMatchObject({ maxBudget: 7n });
  });

  test("with no credits posts none", async () => {
    await createToken(deps, { user: "alice", credits: 0n });
    expect(await deps.accounts.audit()).toMatchObject({ entries: 0, drifts: [] });
  });

  test("for a service depends on no balance: its spending is unlimited, and recorded", async () => {
    const { id } = await createToken(deps, { user: "crawler", service: true });
    const chain = await deps.accounts.chain(`token:${id}`, now);
    expect(chain).toMatchObject([{ id: `token:${id}`, parentId: undefined, prepaid: false, maxBudget: undefined }]);
    expect((await recordOf(id)).service).toBe(true);
    expect(await ledger.submit(holdOf(id, 999n))).toMatchObject({ outcome: "held" });
    await ledger.submit({ kind: "settle", id: "h", amount: 3n * credit, at: now });
    expect((await deps.accounts.chain(`token:${id}`, now))[0]?.debitsPosted).toBe(3n * credit);
  });
});

describe("granting credits", () => {
  test("returns the new balance each time", async () => {
    await createToken(deps, { user: "alice", credits: 10n * credit });
    expect(await grantCredits(deps, alice, 5n * credit)).toBe(15n * credit);
    expect(await grantCredits(deps, alice, 5n * credit)).toBe(20n * credit);
    expect(await deps.accounts.audit()).toMatchObject({ entries: 3, drifts: [] });
  });

  test("counts the spending", async () => {
    const { id } = await createToken(deps, { user: "alice", credits: 10n * credit });
    await ledger.submit(holdOf(id, 4n));
    await ledger.submit({ kind: "settle", id: "h", amount: 4n * credit, at: now });
    expect(await grantCredits(deps, alice, 1n)).toBe(6n * credit + 1n);
  });

  test("creates a new user", async () => {
    expect(await grantCredits(deps, { kind: "user", name: "bob" }, 2n * credit)).toBe(2n * credit);
    expect(await userOf("bob")).toMatchObject({ kind: "user", prepaid: true, creditsPosted: 2n * credit });
  });

  test("fails if the ledger is down", async () => {
    await createToken(deps, { user: "alice" });
    await storage.close();
    const reason: unknown = await grantCredits(deps, alice, 1n).catch((thrown: unknown) => thrown);
    expect(reason).toBeInstanceOf(Error);
  });
});

describe("an organisation", () => {
  test("is created with its first token: it owns the credits, and its users spend them", async () => {
    const { id } = await createToken(deps, { user: "alice", organisation: "acme" });
    expect(await grantCredits(deps, acme, 10n * credit)).toBe(10n * credit);
    expect(await deps.accounts.chain(`token:${id}`, now)).toMatchObject([
      { id: `token:${id}`, parentId: "user:alice", prepaid: false },
      { id: "user:alice", parentId: "organisation:acme", prepaid: false, creditsPosted: 0n },
      { id: "organisation:acme", kind: "organisation", name: "acme", parentId: undefined, prepaid: true },
    ]);
    expect(await ledger.submit(holdOf(id, 11n))).toEqual({
      outcome: "insufficient",
      accountId: "organisation:acme",
      available: 10n * credit,
    });
    expect(await ledger.submit(holdOf(id, 10n))).toMatchObject({ outcome: "held" });
    expect((await findChain(deps, acme)).map(({ debitsPending }) => debitsPending)).toEqual([10n * credit]);
  });

  test("is also created by a grant, and new users join it", async () => {
    await grantCredits(deps, acme, 10n * credit);
    await createToken(deps, { user: "alice", organisation: "acme" });
    await createToken(deps, { user: "bob", organisation: "acme" });
    // An existing user need not be named with their organisation again.
    const { id } = await createToken(deps, { user: "alice" });
    expect(await findChain(deps, { kind: "token", name: id })).toMatchObject([
      { kind: "token" },
      { name: "alice" },
      { name: "acme", creditsPosted: 10n * credit },
    ]);
  });

  test.each<[string, string | undefined, string]>([
    ["another", "beta", "user alice is in organisation beta, not in acme: move them first"],
    ["none", undefined, "user alice is in no organisation, not in acme: move them first"],
  ])("accepts nobody who is in %s", async (_, organisation, message) => {
    await createToken(deps, { user: "alice", organisation });
    const before = (await listAccounts(deps)).length;
    expect(await refusalOf(createToken(deps, { user: "alice", organisation: "acme" }))).toStartWith(message);
    // The attempt left nothing behind.
    expect(await listAccounts(deps)).toHaveLength(before);
    expect(await deps.tokens.list()).toHaveLength(1);
  });

  test("accepts a user once, even if another command creates that user at the same time", async () => {
    const places = ["acme", "beta", undefined];
    const attempts = places.map((organisation) =>
      createToken(deps, { user: "alice", organisation }).then(
        () => "made",
        (reason: unknown) => (reason instanceof AccountError ? "refused" : String(reason)),
      ),
    );
    const outcomes = await Promise.all(attempts);
    const [account, parent] = await findChain(deps, alice);
    const isFine = (place: string | undefined): boolean => place === undefined || place === parent?.name;
    expect(outcomes).toEqual(places.map((place) => (isFine(place) ? "made" : "refused")));
    expect(account?.prepaid).toBe(parent === undefined);
  });

  test("receives the credits granted to its users", async () => {
    const message = "user alice pays with the credits of organisation acme";
    const withCredits = createToken(deps, { user: "alice", organisation: "acme", credits: credit });
    expect(await refusalOf(withCredits)).toStartWith(message);
    expect(await listAccounts(deps)).toEqual([]);
    await createToken(deps, { user: "alice", organisation: "acme" });
    expect(await refusalOf(createToken(deps, { user: "alice", credits: credit }))).toStartWith(message);
    expect(await refusalOf(grantCredits(deps, alice, credit))).toStartWith(message);
    expect(await deps.accounts.audit()).toMatchObject({ entries: 0 });
    expect(await deps.tokens.list()).toHaveLength(1);
  });

  test("cannot have a service, which has no limit", async () => {
    const attempt = createToken(deps, { user: "robot", organisation: "acme", service: true });
    expect(await refusalOf(attempt)).toBe(
      "a service token hangs on no balance: it can't be put into organisation acme",
    );
    expect(await listAccounts(deps)).toEqual([]);
  });

  test("accepts the user of a service, who has no account", async () => {
    await createToken(deps, { user: "alice", service: true });
    await createToken(deps, { user: "alice", organisation: "acme" });
    expect(await findChain(deps, alice)).toMatchObject([{ name: "alice" }, { name: "acme" }]);
  });
});

describe("limits", () => {
  test("are set, changed one by one, and removed", async () => {
    await createToken(deps, { user: "alice", organisation: "acme" });
    const limitsOf = async (changes: Parameters<typeof changeHolder>[2]) => {
      const [account] = (await changeHolder(deps, alice, changes)).chain;
      return [account?.maxBudget, account?.period];
    };
    expect(await limitsOf({ maxBudget: 5n, period: "daily" })).toEqual([5n, "daily"]);
    expect(await limitsOf({ maxBudget: 0n })).toEqual([0n, "daily"]);
    expect(await limitsOf({ period: "monthly" })).toEqual([0n, "monthly"]);
    expect(await limitsOf({ period: null })).toEqual([0n, undefined]);
    expect(await limitsOf({ maxBudget: null })).toEqual([undefined, undefined]);
    expect(await findChain(deps, alice)).toMatchObject([{ prepaid: false, parentId: "organisation:acme" }, acme]);
  });

  test.each([alice, acme])("of $kind $name limit a call from then on", async (level) => {
    const { id } = await createToken(deps, { user: "alice", organisation: "acme" });
    await grantCredits(deps, acme, 10n * credit);
    await changeHolder(deps, level, { maxBudget: 3n * credit });
    expect(await ledger.submit(holdOf(id, 4n))).toMatchObject({
      outcome: "insufficient",
      accountId: `${level.kind}:${level.name}`,
      available: 3n * credit,
    });
    await changeHolder(deps, level, { maxBudget: null });
    expect(await ledger.submit(holdOf(id, 4n))).toMatchObject({ outcome: "held" });
  });

  test("count earlier spending", async () => {
    const { id } = await createToken(deps, { user: "alice", credits: 10n * credit });
    await ledger.submit(holdOf(id, 4n));
    await ledger.submit({ kind: "settle", id: "h", amount: 4n * credit, at: now });
    const [account] = (await changeHolder(deps, alice, { maxBudget: 5n * credit })).chain;
    expect(account).toMatchObject({ periodDebits: 4n * credit, creditsPosted: 10n * credit });
    expect(await ledger.submit({ ...holdOf(id, 2n), id: "i" })).toMatchObject({ available: credit });
  });

  test("need an existing account", async () => {
    for (const name of [alice, acme, { kind: "token", name: "abc" } as const]) {
      const message = `there is no ${name.kind} ${name.name}`;
      const attempt =
        name.kind === "token" ? changeToken(deps, name.name, { rpm: 5 }) : changeHolder(deps, name, { maxBudget: 5n });
      expect(await refusalOf(attempt)).toBe(message);
      expect(await refusalOf(findChain(deps, name))).toBe(message);
    }
  });
});

test("accounts are listed as a tree: organisations first, then users without one, then services", async () => {
  const robot = await createToken(deps, { user: "robot", service: true });
  const own = await createToken(deps, { user: "zoe" });
  const bobs = await createToken(deps, { user: "bob", organisation: "acme" });
  const alices = await createToken(deps, { user: "alice", organisation: "beta" });
  await createToken(deps, { user: "carol", organisation: "acme" });
  const listed = (await listAccounts(deps)).map(({ account, depth }) => `${depth} ${account.id}`);
  expect(listed.filter((line) => !line.startsWith("2") || line.includes(bobs.id) || line.includes(alices.id))).toEqual([
    "0 organisation:acme",
    "1 user:bob",
    `2 token:${bobs.id}`,
    "1 user:carol",
    "0 organisation:beta",
    "1 user:alice",
    `2 token:${alices.id}`,
    "0 user:zoe",
    `1 token:${own.id}`,
    `0 token:${robot.id}`,
  ]);
});
