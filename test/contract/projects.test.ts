/** Projects on either engine: their members, their tokens and money, their moves and deletion. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type AccountsDependencies, createToken, readAsProject } from "../../src/accounts/index.ts";
import type { Principal } from "../../src/auth/index.ts";
import { AdminServer, type Asked } from "../../src/http/admin/__fixtures__/admin-server.ts";
import { type Hold, openLedgerStore } from "../../src/ledger/index.ts";
import { query } from "../kit/engines.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const credit = 1_000_000_000n;

function describeProjects(name: string, url: () => Promise<string>): void {
  describe(`projects on ${name}`, () => {
    let server: AdminServer;
    let deps: AccountsDependencies;
    let tokens: Map<string, string>;

    beforeEach(async () => {
      server = await AdminServer.open(await url());
      ({ deps } = server);
      tokens = new Map();
      for (const [user, role, organisation] of [
        ["owner", "owner", undefined],
        ["admin", "organisation_admin", "acme"],
        ["ann", "member", "acme"],
        ["bob", "member", "acme"],
        ["stranger", "member", "beta"],
      ] as const)
        tokens.set(user, (await createToken(deps, { user, role, organisation })).token);
      await as("owner", "post /admin/v1/credits", { body: { organisation: "acme", amount: 100, reason: "x" } });
      await as("admin", "post /admin/v1/projects", { body: { name: "site", members: ["ann"] } });
    });
    afterEach(() => server.close());

    const ask = (token: string, route: string, asked?: Asked) => server.ask(token, route, asked);
    const as = (user: string, route: string, asked?: Asked) => ask(tokens.get(user) ?? "", route, asked);

    async function projectToken(body: object = {}): Promise<{ id: string; token: string; principal: Principal }> {
      const { status, json } = await as("owner", "post /admin/v1/tokens", { body: { project: "site", ...body } });
      expect(status).toBe(200);
      const token = String(json["token"]);
      return { id: String(json["id"]), token, principal: await server.principalOf(token) };
    }

    const commit = async (operation: Parameters<AccountsDependencies["accounts"]["commit"]>[0][number]) => {
      const [outcome] = await openLedgerStore(server.storage).commit([operation]);
      return outcome?.outcome;
    };

    const holdOf = (id: string, accountId: string, more: Partial<Hold> = {}): Hold => ({
      kind: "hold",
      id,
      accountId,
      amount: 2n * credit,
      at: server.now,
      leaseUntil: server.now + 60_000,
      operation: "chat",
      provider: "openai",
      model: "openai/m",
      dialect: "chat",
      streamed: false,
      ...more,
    });

    const expectBalance = async (): Promise<void> =>
      expect(await deps.accounts.audit()).toMatchObject({ drifts: [], shortfall: 0n });

    test("are made by admins of their organisation, and are a place of their own", async () => {
      expect((await as("owner", "get /admin/v1/projects/site")).json).toMatchObject({
        object: "project",
        id: "site",
        organisation: "acme",
        members: ["ann"],
        prepaid: false,
        balance: null,
      });
      expect(await as("admin", "post /admin/v1/projects", { body: { name: "site" } })).toMatchObject({
        code: "name_taken",
      });
      expect(await as("ann", "post /admin/v1/projects", { body: { name: "own" } })).toMatchObject({ status: 403 });
      // A user of the same name is somebody else.
      await as("owner", "post /admin/v1/users", { body: { name: "site", organisation: "acme" } });
      const { principal } = await projectToken();
      expect(principal).toMatchObject({ user: "project:site", userName: "site", organisation: "acme", role: "member" });
      expect(await as("owner", "post /admin/v1/users", { body: { name: "project:site" } })).toMatchObject({
        status: 422,
      });
    });

    test("are seen by their members, the admins of their organisation and nobody else", async () => {
      await as("owner", "post /admin/v1/projects", {
        body: { name: "shop", organisation: "beta", members: ["stranger"] },
      });
      const { id, token } = await projectToken();
      const seen = async (user: string) => ({
        projects: ((await as(user, "get /admin/v1/projects")).json["data"] as { id: string }[]).map((each) => each.id),
        one: (await as(user, "get /admin/v1/projects/site")).status,
        token: (await as(user, `get /admin/v1/tokens/${id}`)).status,
        tokens: (await as(user, "get /admin/v1/tokens?project=site")).status,
      });
      const nothing = { one: 404, token: 404, tokens: 404 };
      expect(await seen("ann")).toEqual({ projects: ["site"], one: 200, token: 200, tokens: 200 });
      expect(await seen("admin")).toEqual({ projects: ["site"], one: 200, token: 200, tokens: 200 });
      expect(await seen("owner")).toEqual({ projects: ["shop", "site"], one: 200, token: 200, tokens: 200 });
      expect(await seen("bob")).toEqual({ projects: [], ...nothing });
      expect(await seen("stranger")).toEqual({ projects: ["shop"], ...nothing });
      const listed = (await as("ann", "get /admin/v1/tokens")).json["data"] as {
        user: string;
        project: string;
        made_by: string;
      }[];
      expect(listed.map(({ user, project }) => user ?? project).toSorted()).toEqual(["ann", "site"]);
      expect(listed.find(({ project }) => project === "site")?.made_by).toStartWith("token:");
      // Its own token sees it too, and no user.
      expect((await ask(token, "get /admin/v1/projects/site")).status).toBe(200);
      expect((await ask(token, "get /admin/v1/users/ann")).status).toBe(404);
      await as("admin", "patch /admin/v1/projects/site", { body: { members: ["bob"] } });
      expect(await seen("ann")).toEqual({ projects: [], ...nothing });
      expect((await seen("bob")).one).toBe(200);
    });

    test("have members of their own organisation", async () => {
      for (const [members, status] of [
        [["stranger"], 404],
        [["nobody"], 404],
        [["ann", "ann", "bob"], 200],
        [[], 200],
      ] as const)
        expect(await as("admin", "patch /admin/v1/projects/site", { body: { members } })).toMatchObject({ status });
      expect(await as("owner", "patch /admin/v1/projects/site", { body: { members: ["stranger"] } })).toMatchObject({
        status: 409,
      });
      expect((await as("owner", "get /admin/v1/projects/site")).json).toMatchObject({ members: [] });
    });

    test("let a member read as them, and nobody else", async () => {
      const { principal } = await projectToken();
      const reads = (user: string) =>
        server.principalOf(tokens.get(user) ?? "").then((caller) => readAsProject(deps, caller, "site"));
      expect(await reads("ann")).toMatchObject({ user: principal.user, accountId: "project:site", service: false });
      for (const user of ["bob", "stranger", "admin", "owner"])
        expect(await reads(user).catch((error: { code: string }) => error.code)).toBe("account_not_found");
    });

    test("give tokens to owners and admins, and to members within the policy of the organisation", async () => {
      const make = (user: string, body: object = {}) =>
        as(user, "post /admin/v1/tokens", { body: { project: "site", ...body } });
      expect(await make("bob")).toMatchObject({ status: 404 });
      expect(await make("ann")).toMatchObject({ status: 403 });
      expect(await make("admin", { role: "organisation_admin" })).toMatchObject({ status: 403 });
      expect(await make("owner", { service: true })).toMatchObject({ status: 409 });
      await as("owner", "patch /admin/v1/organisations/acme", {
        body: { token_policy: { max_tokens: 1, max_budget: 5 } },
      });
      const made = await make("ann");
      expect(made).toMatchObject({ status: 200, json: { project: "site", user: null, max_budget: 5 } });
      expect(await make("ann")).toMatchObject({ status: 403 });
      expect(await as("bob", `delete /admin/v1/tokens/${String(made.json["id"])}`)).toMatchObject({ status: 404 });
      expect(await as("ann", `delete /admin/v1/tokens/${String(made.json["id"])}`)).toMatchObject({ status: 200 });
      expect(await make("ann")).toMatchObject({ status: 200 });
    });

    test("narrow the rights of their tokens, and refuse all of them once disabled", async () => {
      const body = { models: ["openai/*"], tools: ["!web"], rpm: 7, tpm: 70, concurrency: 3 };
      await as("admin", "patch /admin/v1/projects/site", { body });
      const { principal, token } = await projectToken({ rpm: 9 });
      expect(principal).toMatchObject({
        models: ["openai/*"],
        tools: ["!web"],
        rates: { requestsPerMinute: 9 },
        ratesAbove: [{ requestsPerMinute: 7, tokensPerMinute: 70, concurrentCalls: 3 }, {}],
      });
      await as("owner", "patch /admin/v1/projects/site", { body: { expires_at: new Date(server.now).toISOString() } });
      expect(await ask(token, "get /admin/v1/tokens")).toMatchObject({ code: "token_expired" });
      await as("owner", "patch /admin/v1/projects/site", { body: { expires_at: null, disabled: true } });
      expect(await ask(token, "get /admin/v1/tokens")).toMatchObject({ status: 401, code: "project_disabled" });
      await as("owner", "patch /admin/v1/projects/site", { body: { disabled: false } });
      expect((await ask(token, "get /admin/v1/tokens")).status).toBe(200);
      await as("owner", "patch /admin/v1/organisations/acme", { body: { disabled: true } });
      expect(await ask(token, "get /admin/v1/tokens")).toMatchObject({ code: "organisation_disabled" });
    });

    test("spend within their own limit and their budgets, of the credits of their organisation", async () => {
      await as("admin", "patch /admin/v1/projects/site", { body: { max_budget: 5, period: "daily" } });
      const budget = await as("admin", "post /admin/v1/budgets", {
        body: { project: "site", max_budget: 3, period: "weekly" },
      });
      expect(budget).toMatchObject({ status: 200, json: { project: "site", user: null, organisation: null } });
      const { accountId } = (await projectToken()).principal;
      expect(await commit(holdOf("one", accountId))).toBe("held");
      expect(await commit(holdOf("two", accountId))).toBe("insufficient");
      await commit({ kind: "settle", id: "one", amount: credit, at: server.now });
      expect(await commit(holdOf("three", accountId))).toBe("held");
      await commit({ kind: "release", id: "three", at: server.now });
      expect((await as("ann", "get /admin/v1/projects/site")).json).toMatchObject({ spend: 1, held: 0, available: 4 });
      expect((await as("owner", "get /admin/v1/organisations/acme")).json).toMatchObject({ spend: 1 });
      const listed = await as("admin", "get /admin/v1/budgets?project=site");
      expect((listed.json["data"] as object[]).length).toBe(1);
      expect((await as("admin", "get /admin/v1/budgets")).json["data"]).toEqual(listed.json["data"]);
      expect(
        await as("owner", "post /admin/v1/credits", { body: { project: "site", amount: 1, reason: "x" } }),
      ).toMatchObject({
        status: 409,
      });
      await expectBalance();
    });

    test("own the calls whose process died", async () => {
      const { accountId } = (await projectToken()).principal;
      await commit(holdOf("lost", accountId));
      await commit({ kind: "renew", id: "lost", leaseUntil: server.now + 60_000, observed: credit });
      server.now += 120_000;
      await commit({ kind: "sweep", at: server.now });
      expect(await query<object>(server.storage, "SELECT owner FROM generations")).toEqual([{ owner: "project:site" }]);
      expect((await as("owner", "get /admin/v1/projects/site")).json).toMatchObject({ spend: 1, held: 0 });
      await expectBalance();
    });

    test("move without their members; spending stays, and secrets go on working", async () => {
      const { token, principal } = await projectToken({ rpm: 5 });
      await as("owner", "post /admin/v1/budgets", { body: { project: "site", max_budget: 9 } });
      await commit(holdOf("one", principal.accountId));
      await commit({ kind: "settle", id: "one", amount: credit, at: server.now });
      expect(await as("admin", "patch /admin/v1/projects/site", { body: { organisation: null } })).toMatchObject({
        status: 403,
      });
      const moved = await as("owner", "patch /admin/v1/projects/site", { body: { organisation: "beta" } });
      expect(moved.json).toMatchObject({ organisation: "beta", members: [], spend: 0 });
      expect(await server.principalOf(token)).toMatchObject({
        user: "project:site",
        organisation: "beta",
        accountId: `${principal.accountId}:2`,
      });
      expect(await as("ann", "get /admin/v1/projects/site")).toMatchObject({ status: 404 });
      expect((await as("owner", "get /admin/v1/budgets?project=site")).json["data"]).toMatchObject([{ spend: 1 }]);
      expect((await as("owner", "get /admin/v1/organisations/acme")).json).toMatchObject({ spend: 1 });
      expect((await as("owner", "get /admin/v1/organisations/beta")).json).toMatchObject({ spend: 0 });
      await expectBalance();
    });

    test("are deleted with a balance of zero, and their names are given to another one that inherits nothing", async () => {
      await as("owner", "post /admin/v1/projects", { body: { name: "free" } });
      await as("owner", "post /admin/v1/credits", { body: { project: "free", amount: 2, reason: "x" } });
      expect(await as("owner", "delete /admin/v1/projects/free")).toMatchObject({ status: 409 });
      await as("owner", "post /admin/v1/credits", { body: { project: "free", amount: -2, reason: "x" } });
      expect(await as("owner", "delete /admin/v1/projects/free")).toMatchObject({ status: 200 });
      const { token, principal } = await projectToken();
      await commit(holdOf("one", principal.accountId));
      expect(await as("owner", "delete /admin/v1/projects/site")).toMatchObject({ status: 409 });
      await commit({ kind: "settle", id: "one", amount: credit, at: server.now });
      expect(await as("owner", "delete /admin/v1/organisations/acme")).toMatchObject({ status: 409 });
      expect(await as("admin", "delete /admin/v1/projects/site")).toMatchObject({ status: 200 });
      expect(await ask(token, "get /admin/v1/tokens")).toMatchObject({ code: "token_revoked" });
      const next = await as("admin", "post /admin/v1/projects", { body: { name: "site" } });
      expect(next.json).toMatchObject({ name: "site", members: [], spend: 0 });
      expect(next.json["id"]).toMatch(/^project_[0-9a-z]{16}$/);
      expect((await as("owner", "get /admin/v1/tokens?project=site")).json["data"]).toEqual([]);
      expect(await as("ann", "get /admin/v1/projects/site")).toMatchObject({ status: 404 });
      expect((await deps.log.verify()).fault).toBeUndefined();
      await expectBalance();
    });

    test("lose a member who is deleted or moved", async () => {
      await as("admin", "patch /admin/v1/projects/site", { body: { members: ["ann", "bob"] } });
      await as("owner", "patch /admin/v1/users/ann", { body: { organisation: "beta" } });
      expect((await as("owner", "get /admin/v1/projects/site")).json).toMatchObject({ members: ["bob"] });
      expect(await as("ann", "get /admin/v1/projects/site")).toMatchObject({ status: 404 });
      await as("owner", "delete /admin/v1/users/bob");
      expect((await as("owner", "get /admin/v1/projects/site")).json).toMatchObject({ members: [] });
    });
  });
}

describeProjects("SQLite", async () => "sqlite::memory:");

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
describeProjects("Postgres", () => postgres.createDatabase());
