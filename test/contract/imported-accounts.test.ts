/** Accounts that another gateway had, on either engine: nothing of them gets to an account that was here before. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  type AccountsDependencies,
  type AccountsPlan,
  createToken,
  deleteHolder,
  findHolderState,
  importAccounts,
  type ImportedToken,
  revokeToken,
  rotateToken,
} from "../../src/accounts/index.ts";
import { Authenticator, openClientSecretStore, openImportedKeyStore, openTokenStore } from "../../src/auth/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { createAccounts } from "../kit/accounts.ts";
import { openStorage } from "../kit/storage.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const credit = 1_000_000_000n;
const START = Date.UTC(2026, 10, 10, 12);
const DAY_MS = 86_400_000;

const hashOf = (key: string): string => Bun.SHA256.hash(key, "hex");
const free = { models: undefined, rpm: undefined, tpm: undefined, concurrency: undefined, expiresAt: undefined };

const tokenOf = (key: string, more: Partial<ImportedToken> = {}): ImportedToken => ({
  foreignId: hashOf(key),
  owner: { kind: "user", foreignId: "u1" },
  name: "laptop",
  paused: false,
  earlier: [],
  ...free,
  ...more,
});

const plan: AccountsPlan = {
  source: "litellm",
  prepaid: false,
  holders: [
    { kind: "organisation", foreignId: "o1", name: "acme", disabled: false, ...free },
    { kind: "user", foreignId: "u1", name: "ann", organisation: "o1", disabled: false, ...free, rpm: 7 },
    {
      kind: "project",
      foreignId: "t1",
      name: "site",
      organisation: "o1",
      disabled: false,
      members: ["u1"],
      ...free,
    },
  ],
  tokens: [
    tokenOf("sk-ann", { earlier: [{ hash: hashOf("sk-ann-old"), validUntil: START + DAY_MS }], models: ["openai/*"] }),
    tokenOf("sk-site", { owner: { kind: "project", foreignId: "t1" } }),
    tokenOf("sk-paused", { paused: true }),
  ],
  budgets: [
    {
      foreignId: "o1",
      owner: { kind: "organisation", foreignId: "o1" },
      maxBudget: 10n * credit,
      period: "monthly",
      start: 10,
      spent: 4n * credit,
    },
    {
      foreignId: "t1",
      owner: { kind: "project", foreignId: "t1" },
      // More than the budget is spent already.
      maxBudget: credit,
      period: "daily",
      spent: 3n * credit,
      raise: { by: credit, until: START + DAY_MS },
    },
    { foreignId: "k1", owner: { kind: "token", foreignId: hashOf("sk-ann") }, maxBudget: 5n * credit, spent: 0n },
  ],
};

function describeImports(engine: string, url: () => Promise<string>): void {
  describe(`imported accounts on ${engine}`, () => {
    let now: number;
    let storage: Storage;
    let deps: AccountsDependencies;
    let authenticator: Authenticator;

    beforeEach(async () => {
      now = START;
      storage = await openStorage(await url());
      const clock = (): number => now;
      const environment = { clock, randomBytes: (size: number) => randomBytes(size) };
      deps = createAccounts(storage, environment, "cli:root", () => authenticator.forget());
      authenticator = new Authenticator({
        store: openTokenStore(storage),
        clientSecrets: openClientSecretStore(storage),
        importedKeys: openImportedKeyStore(storage),
        clock,
        onChange: () => undefined,
      });
    });
    afterEach(() => storage.close());

    const callerOf = async (key: string) => authenticator.authenticate(new Headers({ authorization: `Bearer ${key}` }));
    const codeOf = async (key: string): Promise<string> => {
      try {
        return (await callerOf(key)).user;
      } catch (thrown) {
        return (thrown as { code: string }).code;
      }
    };
    const budgetOf = async (owner: string) => {
      const budgets = await deps.holders.budgets({ after: "", limit: 100 });
      const budget = budgets.find(({ ownerId }) => ownerId === owner);
      return (await deps.ledger.read([`budget:${budget?.id}`], now))[0];
    };

    test("keys go on working, for their own accounts alone", async () => {
      const outcome = await importAccounts(deps, plan);
      expect(outcome.leftOut).toEqual([]);
      expect(outcome.created).toEqual({ organisation: 1, user: 1, project: 1, token: 3, budget: 3 });
      expect(await callerOf("sk-ann")).toMatchObject({ user: "ann", organisation: "acme", role: "member" });
      expect(await callerOf("sk-ann")).toMatchObject({
        models: ["openai/*"],
        ratesAbove: [{ requestsPerMinute: 7 }, {}],
      });
      expect(await codeOf("sk-site")).toBe("project:site");
      expect(await codeOf("sk-paused")).toBe("token_paused");
      expect(await codeOf("sk-ann-old")).toBe("ann");
      for (const key of ["sk-other", hashOf("sk-ann"), `sk-${hashOf("sk-ann")}`, "sk-ann "])
        expect([key, await codeOf(key)]).toEqual([key, key === "sk-ann " ? "ann" : "invalid_token"]);
      now += DAY_MS;
      expect([await codeOf("sk-ann"), await codeOf("sk-ann-old")]).toEqual(["ann", "invalid_token"]);
    });

    test("running spend is the period's opening, and the books balance", async () => {
      await importAccounts(deps, plan);
      expect(await deps.accounts.audit()).toMatchObject({ drifts: [], shortfall: 0n });
      expect(await budgetOf("acme")).toMatchObject({
        maxBudget: 10n * credit,
        periodDebits: 4n * credit,
        periodFrom: 10,
      });
      expect(await budgetOf("site")).toMatchObject({ maxBudget: credit, periodDebits: 3n * credit, raisedBy: credit });
      const [organisation] = await deps.accounts.chain("organisation:acme", now);
      expect(organisation).toMatchObject({ prepaid: false, debitsPosted: 0n, maxBudget: undefined });
      const { tokenId } = await callerOf("sk-site");
      const place = { id: "call_1", accountId: `token:${tokenId}`, amount: credit, at: now, leaseUntil: now + 1e4 };
      const call = { operation: "chat", provider: "openai", model: "openai/m", dialect: "chat" } as const;
      const hold = { kind: "hold", ...place, ...call, streamed: false } as const;
      // Its raised budget is used up until the next day; then the organisation's counts on.
      expect(await deps.accounts.commit([hold])).toMatchObject([{ outcome: "insufficient" }]);
      now += DAY_MS;
      const next = { ...hold, at: now, leaseUntil: now + 1e4 };
      expect(await deps.accounts.commit([next])).toMatchObject([{ outcome: "held" }]);
      await deps.accounts.commit([{ kind: "settle", id: "call_1", amount: credit, at: now }]);
      expect((await budgetOf("acme"))?.periodDebits).toBe(5n * credit);
      expect(await deps.accounts.audit()).toMatchObject({ drifts: [], shortfall: 0n });
    });

    test("a second run changes nothing, and neither does a dry one", async () => {
      const dry = await importAccounts(deps, plan, { dryRun: true });
      expect([dry.created.token, await codeOf("sk-ann")]).toEqual([3, "invalid_token"]);
      await importAccounts(deps, plan);
      const before = await deps.log.list({ limit: 100 });
      now += 5_000;
      const again = await importAccounts(deps, plan);
      expect(again.created).toEqual({ organisation: 0, user: 0, project: 0, token: 0, budget: 0 });
      expect(again.unchanged).toEqual(dry.created);
      expect(await deps.log.list({ limit: 100 })).toEqual(before);
      expect(await deps.log.verify()).toMatchObject({ fault: undefined });
    });

    test("no key gets to an account that was here before", async () => {
      const { token } = await createToken(deps, { user: "ann", organisation: "ours" });
      const outcome = await importAccounts(deps, plan);
      expect(outcome.leftOut.map(({ kind }) => kind)).toEqual(["user", "token", "token", "budget"]);
      expect([await codeOf("sk-ann"), await codeOf("sk-ann-old")]).toEqual(["invalid_token", "invalid_token"]);
      expect(await codeOf(token)).toBe("ann");
      expect(await callerOf("sk-site")).toMatchObject({ user: "project:site", organisation: "acme" });
    });

    test("no later key gets to another account with the name of a deleted one", async () => {
      await importAccounts(deps, plan);
      const { tokenId } = await callerOf("sk-ann");
      await deleteHolder(deps, { kind: "user", name: "ann" });
      await createToken(deps, { user: "ann", organisation: "ours" });
      const more = { ...plan, tokens: [...plan.tokens, tokenOf("sk-new")] };
      expect((await importAccounts(deps, more)).leftOut).toMatchObject([
        { kind: "token", foreignId: hashOf("sk-new") },
      ]);
      expect(await codeOf("sk-new")).toBe("invalid_token");
      expect(["invalid_token", "token_revoked"]).toContain(await codeOf("sk-ann"));
      expect(tokenId).not.toBe("");
    });

    test("a rotation ends a key after the overlap, a revocation at once, and no import brings it back", async () => {
      await importAccounts(deps, plan);
      const { tokenId } = await callerOf("sk-ann");
      const { secret } = await rotateToken(deps, tokenId, 1_000);
      expect([await codeOf("sk-ann"), await codeOf("sk-ann-old"), await codeOf(secret)]).toEqual(["ann", "ann", "ann"]);
      now += 1_000;
      await importAccounts(deps, plan);
      expect([await codeOf("sk-ann"), await codeOf("sk-ann-old"), await codeOf(secret)]).toEqual([
        "invalid_token",
        "invalid_token",
        "ann",
      ]);
      const { tokenId: site } = await callerOf("sk-site");
      await revokeToken(deps, site);
      await importAccounts(deps, plan);
      expect(await codeOf("sk-site")).toBe("token_revoked");
    });

    test("a key that was rotated at the other gateway since gets to the same token, and the one before ends", async () => {
      await importAccounts(deps, plan);
      const { tokenId } = await callerOf("sk-ann");
      const earlier = [{ hash: hashOf("sk-ann"), validUntil: START + 5_000 }];
      const owner = { kind: "token", foreignId: hashOf("sk-ann-2") } as const;
      const budget = { foreignId: "k2", earlierIds: ["k1"], owner, maxBudget: 5n * credit, spent: 0n };
      const tokens = [tokenOf("sk-ann-2", { earlier }), ...plan.tokens.slice(1)];
      const { created, leftOut } = await importAccounts(deps, { ...plan, tokens, budgets: [budget] });
      expect({ tokens: created.token, budgets: created.budget, leftOut }).toEqual({
        tokens: 1,
        budgets: 0,
        leftOut: [],
      });
      expect((await callerOf("sk-ann-2")).tokenId).toBe(tokenId);
      expect((await callerOf("sk-ann")).tokenId).toBe(tokenId);
      now += 5_000;
      expect([await codeOf("sk-ann"), await codeOf("sk-ann-2")]).toEqual(["invalid_token", "ann"]);
      // A rotation here is the last word.
      await rotateToken(deps, tokenId, 0);
      const again = [{ hash: hashOf("sk-ann-2"), validUntil: now + 5_000 }];
      const later = { ...plan, budgets: [], tokens: [tokenOf("sk-ann-3", { earlier: again })] };
      expect((await importAccounts(deps, later)).leftOut).toMatchObject([{ kind: "token" }]);
      expect([await codeOf("sk-ann-2"), await codeOf("sk-ann-3")]).toEqual(["invalid_token", "invalid_token"]);
    });

    test("a key that the other gateway has no more ends, and one of an owner that it has no more is reported", async () => {
      await importAccounts(deps, plan);
      now += 5_000;
      // Rotated without a grace, as is the key before it.
      const tokens = [tokenOf("sk-ann-2"), ...plan.tokens.slice(1)];
      const dry = await importAccounts(deps, { ...plan, tokens, budgets: [] }, { dryRun: true });
      expect(await codeOf("sk-ann")).toBe("ann");
      const { ended, leftOut } = await importAccounts(deps, { ...plan, tokens, budgets: [] });
      expect(ended.map(({ key }) => key).toSorted()).toEqual(
        ["sk-ann", "sk-ann-old"].map((key) => hashOf(key).slice(0, 8)).toSorted(),
      );
      expect([dry.ended, leftOut]).toEqual([ended, []]);
      const codes = async () => Promise.all(["sk-ann", "sk-ann-old", "sk-ann-2", "sk-site", "sk-paused"].map(codeOf));
      const working = ["invalid_token", "invalid_token", "ann", "project:site", "token_paused"];
      expect(await codes()).toEqual(working);
      const [row] = await deps.log.list({ limit: 1 });
      expect(row).toMatchObject({ act: "token.change", after: JSON.stringify({ ended_key: ended.at(-1)?.key }) });
      // Another database has none of them.
      const other = await importAccounts(deps, { ...plan, holders: [], tokens: [], budgets: [] });
      expect(other.ended).toEqual([]);
      expect(other.leftOut).toHaveLength(3);
      expect(await codes()).toEqual(working);
      // Those of other gateways stay.
      const { ended: none } = await importAccounts(deps, { ...plan, source: "other", tokens: [], budgets: [] });
      expect(none).toEqual([]);
      expect(await codes()).toEqual(working);
    });

    test("members who are in another organisation here are left out of a new project", async () => {
      await importAccounts(deps, plan);
      const organisation = { kind: "organisation", foreignId: "o2", name: "beta", disabled: false, ...free } as const;
      const project = { kind: "project", foreignId: "t2", name: "shop", organisation: "o2", disabled: false } as const;
      const user = {
        kind: "user",
        foreignId: "u2",
        name: "bea",
        organisation: "o2",
        disabled: false,
        ...free,
      } as const;
      const added = [organisation, user, { ...project, members: ["u1", "u2", "gone"], ...free }];
      const { created, leftOut } = await importAccounts(deps, { ...plan, holders: [...plan.holders, ...added] });
      expect(created).toMatchObject({ organisation: 1, user: 1, project: 1 });
      expect(leftOut).toMatchObject([{ kind: "user", foreignId: "u1" }]);
      const shop = await findHolderState(deps, { kind: "project", name: "shop" });
      expect(shop.holder.members).toEqual(["bea"]);
    });

    test("what would make a fifth budget possible names the account", async () => {
      await importAccounts(deps, plan);
      const more = [1, 2, 3, 4].map((each) => ({
        foreignId: `k1-${each}`,
        owner: { kind: "token", foreignId: hashOf("sk-ann") } as const,
        maxBudget: credit,
        spent: 0n,
      }));
      const { tokenId } = await callerOf("sk-ann");
      expect(importAccounts(deps, { ...plan, budgets: [...plan.budgets, ...more] })).rejects.toThrow(
        `token ${tokenId}`,
      );
    });

    test("an earlier key never takes the place of one in use", async () => {
      const earlier = [{ hash: hashOf("sk-site"), validUntil: START + DAY_MS }];
      await importAccounts(deps, { ...plan, tokens: [tokenOf("sk-ann", { earlier }), ...plan.tokens.slice(1)] });
      expect(await codeOf("sk-site")).toBe("project:site");
    });

    test("prepaid ones have a balance of none", async () => {
      await importAccounts(deps, { ...plan, prepaid: true });
      const [organisation] = await deps.accounts.chain("organisation:acme", now);
      expect(organisation).toMatchObject({ prepaid: true, creditsPosted: 0n, debitsPosted: 0n });
    });
  });
}

describeImports("SQLite", async () => "sqlite::memory:");

describe("with a Postgres server", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres.stop());
  describeImports("Postgres", () => postgres.createDatabase());
});
