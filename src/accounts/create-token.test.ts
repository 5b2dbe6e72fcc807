import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openTokenStore, type TokenRecord } from "../auth/index.ts";
import { type AccountState, Ledger, openLedgerStore } from "../ledger/index.ts";
import { openStorage, type Storage } from "../storage/index.ts";
import { type AccountsDependencies, createToken, grantCredits } from "./index.ts";

const credit = 1_000_000_000n;

let storage: Storage;
let deps: AccountsDependencies;
let now: number;
let seed: number;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  now = 1_000_000;
  seed = 0;
  const accounts = openLedgerStore(storage);
  deps = {
    accounts,
    ledger: new Ledger({ store: accounts }),
    tokens: openTokenStore(storage),
    environment: {
      clock: () => now,
      // Every byte differs from the one before, so that ids do too.
      randomBytes: (size) => Uint8Array.from({ length: size }, () => (seed = (seed * 73 + 41) % 251)),
      randomFraction: () => 0,
      fetch: () => Promise.reject(new Error("nobody calls anybody here")),
    },
  };
});
afterEach(() => storage.close());

async function recordOf(id: string): Promise<TokenRecord> {
  const record = await deps.tokens.find(id);
  if (record === undefined) throw new Error(`no token ${id}`);
  return record;
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

  test("may use everything for ever unless it is told otherwise", async () => {
    const { id } = await createToken(deps, { user: "alice" });
    const { secretHash: _, ...record } = await recordOf(id);
    expect(record).toEqual({
      id,
      user: "alice",
      accountId: `token:${id}`,
      service: false,
      admin: false,
      models: undefined,
      rpm: undefined,
      concurrency: undefined,
      expiresAt: undefined,
      revokedAt: undefined,
      createdAt: now,
    });
  });

  test("keeps the limits that it is made with", async () => {
    const { id } = await createToken(deps, {
      user: "alice",
      rpm: 60,
      concurrency: 4,
      models: ["openai/*", "xai/grok-4"],
      admin: true,
      expiresInMs: 86_400_000,
      maxBudget: 5n * credit,
      period: "monthly",
    });
    expect(await recordOf(id)).toMatchObject({
      rpm: 60,
      concurrency: 4,
      models: ["openai/*", "xai/grok-4"],
      admin: true,
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

  test("pays from its user's credits, which are made with the first token", async () => {
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

  test("of a user who is there shares the credits and adds its own", async () => {
    const first = await createToken(deps, { user: "alice", credits: 10n * credit });
    const second = await createToken(deps, { user: "alice", credits: 5n * credit });
    expect(second.id).not.toBe(first.id);
    expect(second.token).not.toBe(first.token);
    expect(await userOf("alice")).toMatchObject({ creditsPosted: 15n * credit });
    const third = await createToken(deps, { user: "alice" });
    const chain = await deps.accounts.chain(`token:${third.id}`, now);
    expect(chain[1]).toMatchObject({ id: "user:alice", creditsPosted: 15n * credit });
  });

  test("leaves the limits of a user who is there as they are", async () => {
    await createToken(deps, { user: "alice" });
    const user = await userOf("alice");
    if (user === undefined) throw new Error("no user");
    await deps.accounts.putAccount({ ...user, maxBudget: 7n }, now);
    await createToken(deps, { user: "alice" });
    expect(await userOf("alice")).toMatchObject({ maxBudget: 7n });
  });

  test("with no credits of its own posts none", async () => {
    await createToken(deps, { user: "alice", credits: 0n });
    expect(await deps.accounts.audit()).toMatchObject({ entries: 0, drifts: [] });
  });

  test("for a service hangs on no balance: nothing limits what it spends, and it is recorded", async () => {
    const { id } = await createToken(deps, { user: "crawler", service: true });
    const chain = await deps.accounts.chain(`token:${id}`, now);
    expect(chain).toMatchObject([{ id: `token:${id}`, parentId: undefined, prepaid: false, maxBudget: undefined }]);
    expect((await recordOf(id)).service).toBe(true);
    const hold = {
      kind: "hold",
      id: "h",
      accountId: `token:${id}`,
      amount: 999n * credit,
      purpose: "chat",
      at: now,
      leaseUntil: now + 1,
    } as const;
    expect(await deps.ledger.submit(hold)).toEqual({ outcome: "held" });
    await deps.ledger.submit({ kind: "settle", id: "h", amount: 3n * credit, at: now });
    expect((await deps.accounts.chain(`token:${id}`, now))[0]?.debitsPosted).toBe(3n * credit);
  });
});

describe("granting credits", () => {
  test("gives back the new balance, each time", async () => {
    await createToken(deps, { user: "alice", credits: 10n * credit });
    expect(await grantCredits(deps, "alice", 5n * credit)).toBe(15n * credit);
    expect(await grantCredits(deps, "alice", 5n * credit)).toBe(20n * credit);
    expect(await deps.accounts.audit()).toMatchObject({ entries: 3, drifts: [] });
  });

  test("counts what has been spent", async () => {
    const { id } = await createToken(deps, { user: "alice", credits: 10n * credit });
    await deps.ledger.submit({
      kind: "hold",
      id: "h",
      accountId: `token:${id}`,
      amount: 4n * credit,
      purpose: "chat",
      at: now,
      leaseUntil: now + 1,
    });
    await deps.ledger.submit({ kind: "settle", id: "h", amount: 4n * credit, at: now });
    expect(await grantCredits(deps, "alice", 1n)).toBe(6n * credit + 1n);
  });

  test("makes a user who is not there yet", async () => {
    expect(await grantCredits(deps, "bob", 2n * credit)).toBe(2n * credit);
    expect(await userOf("bob")).toMatchObject({ kind: "user", prepaid: true, creditsPosted: 2n * credit });
  });

  test("fails where the ledger is down", async () => {
    await createToken(deps, { user: "alice" });
    await storage.close();
    const reason: unknown = await grantCredits(deps, "alice", 1n).catch((thrown: unknown) => thrown);
    expect(reason).toBeInstanceOf(Error);
  });
});
