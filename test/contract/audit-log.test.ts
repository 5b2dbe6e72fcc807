/** The audit log and its acts, on either engine. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import {
  type AccountsDependencies,
  changeHolder,
  changeToken,
  createToken,
  findChain,
  grantCredits,
  revokeToken,
  rotateToken,
} from "../../src/accounts/index.ts";
import { createAccounts } from "../../src/app/accounts.ts";
import { AuditLog } from "../../src/audit/index.ts";
import { sql, type Storage } from "../../src/storage/index.ts";
import { query } from "../kit/engines.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";
import { openStorage } from "../kit/storage.ts";

const credit = 1_000_000_000n;
const alice = { kind: "user", name: "alice" } as const;

function describeAuditLog(name: string, open: () => Promise<Storage>): void {
  describe(`the audit log on ${name}`, () => {
    let storage: Storage;
    let deps: AccountsDependencies;
    let log: AuditLog;

    beforeEach(async () => {
      storage = await open();
      deps = createAccounts(storage, { clock: () => 1_000, randomBytes: (size) => randomBytes(size) }, "cli:root");
      ({ log } = deps);
    });
    afterEach(() => storage.close());

    const acts = async (): Promise<string[]> =>
      (await log.listAfter(0, 500)).map(({ act, target }) => `${act} ${target}`);

    /** Changes rows as somebody does who has the database: past the triggers. */
    async function tamper(...statements: string[]): Promise<void> {
      const triggers = ["audit_is_never_changed", "audit_is_never_deleted"];
      const onTable = storage.engine === "postgres" ? " ON audit" : "";
      for (const trigger of triggers) await query(storage, `DROP TRIGGER IF EXISTS ${trigger}${onTable}`);
      for (const statement of statements) await query(storage, statement);
    }

    test("has one row for each change, with who made it and why, and no secret", async () => {
      const { id, token } = await createToken(deps, { user: "alice", organisation: "acme", reason: "a new colleague" });
      await grantCredits(deps, { kind: "organisation", name: "acme" }, 5n * credit, { reason: "invoice 7" });
      await changeHolder(deps, alice, { maxBudget: 2n * credit }, { reason: "a trial" });
      const { secret } = await rotateToken(deps, id, 60_000);
      await changeToken(deps, id, { paused: true });
      await revokeToken(deps, id);
      expect(await acts()).toEqual([
        "organisation.create organisation:acme",
        "user.create user:alice",
        `token.create token:${id}`,
        "credits.grant organisation:acme",
        "user.change user:alice",
        `token.rotate token:${id}`,
        `token.change token:${id}`,
        `token.revoke token:${id}`,
      ]);
      const rows = await log.listAfter(0, 500);
      expect(rows[0]).toMatchObject({ number: 1, at: 1_000, actor: "cli:root", reason: "a new colleague" });
      expect(rows[3]).toMatchObject({ reason: "invoice 7", after: expect.stringContaining('"amount":5') as string });
      expect(rows[4]?.before).toContain('"max_budget":null');
      expect(rows[4]?.after).toContain('"max_budget":2');
      for (const secretText of [token, secret]) {
        const [, , ...rest] = secretText.split("_");
        expect(JSON.stringify(rows)).not.toContain(rest.join("_"));
      }
      expect(await log.verify()).toEqual({ rows: 8, fault: undefined });
    });

    test("has the organisation that the user of a service gets with a first token of their own", async () => {
      await createToken(deps, { user: "ci", service: true });
      await createToken(deps, { user: "ci", organisation: "acme" });
      const row = (await log.listAfter(0, 500)).find(({ act }) => act === "user.change");
      expect(row).toMatchObject({
        target: "user:ci",
        before: expect.stringContaining('"organisation_id":null') as string,
      });
      expect(row?.after).toContain('"organisation_id":"acme"');
    });

    test("is whole after a reason with half a surrogate pair, which no storage keeps", async () => {
      await createToken(deps, { user: "alice", reason: "half \ud83d of a pair" });
      expect((await log.verify()).fault).toBeUndefined();
    });

    test("has no row of an act without a change, of a dry run or of a refused act, none of which leave anything", async () => {
      await createToken(deps, { user: "alice", credits: credit });
      const before = await acts();
      await changeHolder(deps, alice, { maxBudget: null, name: "alice" });
      const tried = await changeHolder(deps, alice, { maxBudget: 7n, name: "bob" }, { dryRun: true });
      expect(tried).toMatchObject({ holder: { name: "bob" }, chain: [{ maxBudget: 7n, name: "bob" }] });
      const refused = grantCredits(deps, alice, -2n * credit, { reason: "too many" });
      expect(await refused.catch(String)).toContain("only 1 credits");
      expect(await acts()).toEqual(before);
      expect((await findChain(deps, alice))[0]).toMatchObject({
        name: "alice",
        maxBudget: undefined,
        creditsPosted: credit,
      });
      expect(await deps.accounts.audit()).toMatchObject({ entries: 1, drifts: [] });
    });

    test("numbers acts that run at the same time one after the other", async () => {
      const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
      await Promise.all(names.map((user) => createToken(deps, { user })));
      expect(await log.verify()).toEqual({ rows: 40, fault: undefined });
    });

    test("is only appended", async () => {
      await createToken(deps, { user: "alice" });
      for (const statement of [
        "UPDATE audit SET actor = 'nobody'",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE number = 2",
      ])
        expect(async () => query(storage, statement)).toThrow(/only appended/);
    });

    test.each<[string, string[], string]>([
      [
        "changed",
        ["UPDATE audit SET actor = 'cli:somebody' WHERE number = 2"],
        "row 2 was changed, or a row before it",
      ],
      [
        "without its reason",
        ["UPDATE audit SET reason = NULL WHERE number = 1"],
        "row 1 was changed, or a row before it",
      ],
      ["removed", ["DELETE FROM audit WHERE number = 1"], "row 1 is missing: row 2 follows"],
      ["removed from between", ["DELETE FROM audit WHERE number = 3"], "row 3 is missing: row 4 follows"],
      ["cut off", ["DELETE FROM audit WHERE number > 2"], "row 3 is missing: the log ends at row 4"],
      [
        "cut off, with a state that agrees",
        ["DELETE FROM audit WHERE number > 2", "UPDATE audit_state SET number = 2"],
        "row 2 is not the last that was written",
      ],
      [
        "added",
        ["INSERT INTO audit (number, at, actor, act, target, hash) VALUES (5, 1, 'cli:x', 'x', 'x', 'x')"],
        "row 5 was not written by an act",
      ],
    ])("shows that a row was %s", async (_, statements, fault) => {
      await createToken(deps, { user: "alice", reason: "one" });
      await createToken(deps, { user: "bob", reason: "two" });
      await tamper(...statements);
      expect((await log.verify()).fault).toBe(fault);
    });

    test("undoes an act whose rows can't be written", async () => {
      await createToken(deps, { user: "alice" });
      await tamper("INSERT INTO audit (number, at, actor, act, target, hash) VALUES (3, 1, 'cli:x', 'x', 'x', 'x')");
      expect(async () => createToken(deps, { user: "bob", credits: credit })).toThrow();
      expect((await deps.tokens.list()).map(({ user }) => user)).toEqual(["alice"]);
      expect((await deps.accounts.listAccounts(0)).map(({ name: account }) => account)).not.toContain("bob");
      expect(await deps.accounts.audit()).toMatchObject({ entries: 0, drifts: [] });
    });

    test("keeps its state in one row that acts lock", async () => {
      const order: string[] = [];
      const slow = log.act({ actor: { name: "one" } }, function* (note) {
        order.push("one begins");
        yield sql`SELECT 1 AS one`;
        order.push("one ends");
        note({ act: "x", target: "x" });
      });
      const fast = new AuditLog({ storage, clock: () => 1_000 }).act({ actor: { name: "two" } }, function* (note) {
        order.push("two");
        yield sql`SELECT 1 AS one`;
        note({ act: "x", target: "x" });
      });
      await Promise.all([slow, fast]);
      expect(order.join(" ")).toContain("one begins one ends");
    });

    test("leaves the connections for look-ups to others while many acts wait", async () => {
      const { id } = await createToken(deps, { user: "alice" });
      if (storage.engine === "sqlite") return;
      const waiting: Promise<unknown>[] = [];
      await storage.commits.transaction(async (run) => {
        await run("SELECT number FROM audit_state FOR UPDATE");
        for (let count = 0; count < 20; count += 1) waiting.push(rotateToken(deps, id, 0));
        expect(await deps.tokens.findById(id)).toMatchObject({ id });
      });
      await Promise.all(waiting);
      expect((await deps.tokens.findById(id))?.version).toBe(21);
    });
  });
}

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

describeAuditLog("sqlite", () => openStorage("sqlite::memory:"));
describeAuditLog("postgres", async () => openStorage(await server.createDatabase()));
