/** The admin routes, on a storage in memory: the rights of each role. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type AccountsDependencies,
  addBudget,
  addGroup,
  addHolder,
  changeToken,
  createToken,
  grantCredits,
} from "../../accounts/index.ts";
import { type GatewayError, includesRole, type Role, roles } from "../../core/index.ts";
import type { Storage } from "../../storage/index.ts";
import { createAccounts } from "../../../test/kit/accounts.ts";
import { insertGeneration, plainGeneration } from "../../../test/kit/generations.ts";
import { addBatch, addSession, AdminServer, type Asked } from "./__fixtures__/admin-server.ts";
import { type AdminRoute, routeRoles } from "./route-roles.ts";

const credit = 1_000_000_000n;

const call = {
  ...plainGeneration,
  model: "small",
  inputTokens: 1,
  outputTokens: 1,
  credits: 0n,
  startedAt: 0,
} as const;

let server: AdminServer;
let storage: Storage;
let deps: AccountsDependencies;
/** One user a role, all in acme but the owner; `peer` is another member of acme, `stranger` one of beta. */
const people: readonly [name: string, role: Role, organisation: string | undefined][] = [
  ["owner", "owner", undefined],
  ["operator", "operator", undefined],
  ["billing", "billing", undefined],
  ["auditor", "auditor", undefined],
  ["organisation_admin", "organisation_admin", "acme"],
  ["member", "member", "acme"],
  ["peer", "member", "acme"],
  ["boss", "owner", "acme"],
  ["stranger", "member", "beta"],
];
let tokens: Map<string, { id: string; token: string }>;
/** The id of a call of each of them. */
let calls: Map<string, string>;
/** The budget of each of them, by the user's name. */
let budgets: Map<string, string>;

beforeEach(async () => {
  server = await AdminServer.open();
  ({ storage, deps } = server);
  tokens = new Map();
  for (const [user, role, organisation] of people)
    tokens.set(user, await createToken(deps, { user, role, organisation }));
  for (const [organisation, member] of [
    ["acme", "member"],
    ["beta", "stranger"],
  ] as const)
    await addHolder(deps, { kind: "project", name: `${organisation}-site`, organisation, members: [member] });
  await addGroup(deps, { name: "frontier", models: ["openai/*"] });
  budgets = new Map();
  for (const [name] of people)
    budgets.set(name, (await addBudget(deps, { kind: "user", name }, { maxBudget: credit })).budget.id);
});
afterEach(() => server.close());

const ask = (token: string, route: string, asked?: Asked) => server.ask(token, route, asked);
const secretOf = (user: string): string => tokens.get(user)?.token ?? "";
const idOf = (user: string): string => tokens.get(user)?.id ?? "";
const as = (user: string, route: string, asked?: Asked) => ask(secretOf(user), route, asked);

const bodies: Partial<Record<AdminRoute, object>> = {
  "post /admin/v1/organisations": { name: "new" },
  "patch /admin/v1/organisations/{id}": { max_budget: 1 },
  "post /admin/v1/users": { name: "new" },
  "patch /admin/v1/users/{id}": { max_budget: 1 },
  "post /admin/v1/projects": { name: "new" },
  "patch /admin/v1/projects/{id}": { max_budget: 1 },
  "patch /admin/v1/tokens/{id}": { max_budget: 1 },
  "post /admin/v1/tokens/{id}/rotate": {},
  "post /admin/v1/tokens": {},
  "post /admin/v1/model_groups": { name: "new", models: ["*"] },
  "patch /admin/v1/model_groups/{id}": { models: ["*"] },
  "post /admin/v1/budgets": { user: "member", max_budget: 1 },
  "patch /admin/v1/budgets/{id}": { max_budget: 1 },
  "patch /admin/v1/providers/{id}": { disabled: true },
  "put /admin/v1/people": { people: [{ name: "new" }] },
};

const queries: Partial<Record<AdminRoute, string>> = {
  "get /admin/v1/exports": "?what=usage",
  "get /admin/v1/routes/explain": "?model=openai/gpt-5-mini",
};

/** Whether the caller may know of somebody's things; from the table, not from the code. */
function mayKnow([caller, role, organisation]: (typeof people)[number], target: string): boolean {
  const [, , place] = people.find(([name]) => name === target) ?? [];
  if (["owner", "billing", "auditor"].includes(role) || caller === target) return true;
  return role === "organisation_admin" && organisation === place;
}

/** What a path is about, of somebody who may not exist. */
function idIn(path: string, target: string, place: string): string {
  if (path.includes("/tokens")) return idOf(target) || "nobody";
  if (path.includes("/generations")) return calls.get(target) ?? "nobody";
  if (path.includes("/budgets")) return budgets.get(target) ?? "nobody";
  if (path.includes("/batches")) return target === "nobody" ? target : "batch_1";
  if (path.includes("/realtime_sessions")) return target === "nobody" ? target : "session";
  if (path.includes("/providers")) return target === "nobody" ? target : "openai";
  if (path.includes("/model_groups")) return target === "nobody" ? target : "frontier";
  if (path.includes("/projects")) return place === "nowhere" || place === undefined ? "nobody" : `${place}-site`;
  return path.includes("/organisations") ? place : target;
}

/** Whether the caller may know of a project. */
function mayKnowProject([caller, role, organisation]: (typeof people)[number], project: string): boolean {
  if (["owner", "billing", "auditor"].includes(role)) return true;
  if (role === "organisation_admin" && project === `${organisation}-site`) return true;
  return { "acme-site": "member", "beta-site": "stranger" }[project] === caller;
}

describe("every route, for every role, and the things of everybody", () => {
  const targets = [...people.map(([name]) => name), "nobody"];

  beforeEach(async () => {
    calls = new Map();
    await addSession(server, "session");
    await addBatch(server, "batch_1");
    for (const [index, [owner]] of people.entries()) {
      const id = `req_${String(index).padStart(25, "0")}`;
      calls.set(owner, id);
      await insertGeneration(storage, { ...call, id, owner, tokenId: idOf(owner) });
    }
  });

  test.each(Object.keys(routeRoles) as AdminRoute[])("%s", async (route) => {
    const [method = "", path = ""] = route.split(" ");
    const permitted: readonly Role[] = routeRoles[route];
    const missing = path.includes("/generations") ? "generation_not_found" : "account_not_found";
    for (const person of people) {
      const [caller, role] = person;
      for (const target of path.includes("{id}") ? targets : [caller]) {
        const place = people.find(([name]) => name === target)?.[2] ?? "nowhere";
        const id = idIn(path, target, place);
        const dry = method === "get" ? (queries[route] ?? "") : "?dry_run=true";
        const body = path === "/admin/v1/credits" ? { user: "owner", amount: 1, reason: "x" } : bodies[route];
        const { status, code } = await as(caller, `${method} ${path.replace("{id}", id)}${dry}`, { body });
        const met = `${caller} → ${target}: ${status} ${code}`;
        if (!permitted.includes(role)) expect(met).toBe(`${caller} → ${target}: 403 role_required`);
        else if (path.includes("{id}") && (id === "nobody" || id === "nowhere"))
          expect(met).toBe(`${caller} → ${target}: 404 ${missing}`);
        else if (path.includes("/projects/") && !mayKnowProject(person, id))
          expect(met).toBe(`${caller} → ${target}: 404 ${missing}`);
        else if (
          path.includes("{id}") &&
          !/organisations|model_groups|projects|providers|realtime_sessions|batches/.test(path) &&
          !mayKnow(person, target)
        )
          expect(met).toBe(`${caller} → ${target}: 404 ${missing}`);
        else if (role === "owner" && method === "get") expect(status).toBe(200);
        else expect([200, 403, 404, 409]).toContain(status);
      }
    }
  });

  test("nothing of another organisation is in a list", async () => {
    for (const path of ["users", "projects", "tokens", "organisations", "budgets", "generations"]) {
      const { json } = await as("organisation_admin", `get /admin/v1/${path}`);
      expect(JSON.stringify(json)).not.toMatch(/stranger|beta/);
      expect(JSON.stringify(json)).toContain(/organisations|projects/.test(path) ? "acme" : "peer");
    }
    for (const what of ["usage", "generations", "entries"]) {
      const { json } = await as("organisation_admin", `get /admin/v1/exports?what=${what}&from=1970-01-01`);
      expect(json["text"]).not.toMatch(/stranger|beta/);
      expect(json["text"]).toContain("peer");
    }
    const own = await as("member", "get /admin/v1/tokens");
    expect((own.json["data"] as { user: string }[]).map(({ user }) => user)).toEqual(["member"]);
  });
});

describe("nobody gives more than they have", () => {
  test.each<[string, string, object, number]>([
    ["organisation_admin", "patch /admin/v1/users/organisation_admin", { role: "owner" }, 403],
    ["organisation_admin", "patch /admin/v1/users/member", { role: "billing" }, 403],
    ["organisation_admin", "patch /admin/v1/users/boss", { disabled: true }, 403],
    ["organisation_admin", "post /admin/v1/users", { name: "evil", role: "owner" }, 403],
    ["organisation_admin", "post /admin/v1/users", { name: "evil", organisation: "beta" }, 404],
    ["organisation_admin", "post /admin/v1/tokens", { user: "boss" }, 403],
    ["organisation_admin", "post /admin/v1/tokens", { user: "boss", role: "member" }, 403],
    ["organisation_admin", "post /admin/v1/tokens", { user: "member", role: "organisation_admin" }, 403],
    ["organisation_admin", "post /admin/v1/tokens", { user: "stranger" }, 404],
    ["organisation_admin", "post /admin/v1/tokens", { service: true }, 403],
    ["organisation_admin", "patch /admin/v1/organisations/acme", { max_budget: null }, 403],
    ["organisation_admin", "post /admin/v1/credits", { organisation: "acme", amount: 5, reason: "x" }, 403],
    ["billing", "patch /admin/v1/users/billing", { role: "owner" }, 403],
    ["billing", "patch /admin/v1/tokens/TOKEN", { rpm: null }, 403],
    ["auditor", "patch /admin/v1/users/auditor", { role: "owner" }, 403],
    ["member", "post /admin/v1/tokens", {}, 403],
  ])("%s: %s %p", async (caller, route, body, status) => {
    expect(await as(caller, route.replace("TOKEN", idOf("peer")), { body })).toMatchObject({ status });
  });

  test("a lesser token of an owner makes, and rotates, no better one", async () => {
    const { token } = await createToken(deps, { user: "owner", role: "member" });
    for (const [route, body] of [
      ["post /admin/v1/tokens", {}],
      [`post /admin/v1/tokens/${idOf("owner")}/rotate`, {}],
      [`delete /admin/v1/tokens/${idOf("owner")}`, undefined],
      ["patch /admin/v1/users/owner", { role: "owner" }],
    ] as const)
      expect(await ask(token, route, { body })).toMatchObject({ status: 403, code: "role_required" });
  });

  test("the secret of somebody else's token is not raised with its user", async () => {
    const made = await as("organisation_admin", "post /admin/v1/tokens", { body: { user: "member" } });
    await as("organisation_admin", `patch /admin/v1/tokens/${String(made.json["id"])}`, { body: { role: null } });
    const { id } = await createToken(deps, { user: "member" });
    const rotated = await as("organisation_admin", `post /admin/v1/tokens/${id}/rotate`, { body: {} });
    const { token: own } = await createToken(deps, { user: "member" });
    await as("owner", "patch /admin/v1/users/member", { body: { role: "owner" } });
    for (const { status, json } of [made, rotated])
      expect([status, (await server.principalOf(String(json["token"]))).role]).toEqual([200, "member"]);
    expect((await server.principalOf(own)).role).toBe("owner");
  });

  test("a restricted token of a member does not get the secret of an unrestricted one", async () => {
    const { token, id } = await createToken(deps, { user: "member", maxBudget: 1n });
    expect(await ask(token, `post /admin/v1/tokens/${idOf("member")}/rotate`, { body: {} })).toMatchObject({
      status: 403,
    });
    expect(await ask(token, `post /admin/v1/tokens/${id}/rotate`, { body: {} })).toMatchObject({ status: 200 });
  });

  test("in any order of acts", async () => {
    let seed = 42;
    const pick = <T>(from: readonly T[]): T => {
      seed = (seed * 48_271) % 2_147_483_647;
      return from[seed % from.length] as T;
    };
    const callers = ["organisation_admin", "member", "peer", "stranger", "operator", "auditor", "billing"];
    const held = new Map(callers.map((name) => [name, [secretOf(name)]]));
    // The most that each may have: their own role, or one that somebody else gave who has it.
    const most = new Map(people.map(([name, role]) => [name, role]));
    for (let turn = 0; turn < 250; turn += 1) {
      const caller = pick(callers);
      const user = pick(people)[0];
      const role = pick(roles);
      const body = { role, disabled: pick([false, undefined]) };
      const route = pick([
        ["post /admin/v1/tokens", { user, role: pick([...roles, undefined]) }],
        [`patch /admin/v1/users/${user}`, body],
        [`post /admin/v1/tokens/${idOf(user)}/rotate`, {}],
        [`patch /admin/v1/tokens/${idOf(user)}`, { role: pick([...roles, null]) }],
        ["post /admin/v1/users", { name: `user-${turn}`, role: pick(roles) }],
        ["put /admin/v1/people", { people: [{ name: user, role, token: true }, { name: `file-${turn}` }] }],
        [`patch /admin/v1/users/${user}`, { organisation: pick(["acme", "beta", null]) }],
      ] as const);
      const { json, status } = await ask(pick(held.get(caller) ?? []), route[0], { body: route[1] });
      const isRaise = status === 200 && (route[1] === body || route[0].startsWith("put")) && user !== caller;
      const own = most.get(caller) ?? "member";
      if (isRaise && includesRole(own, role) && includesRole(role, most.get(user) ?? "member")) most.set(user, role);
      if (typeof json["token"] === "string") held.get(caller)?.push(json["token"]);
      const issued = (json["tokens"] ?? []) as { token: string }[];
      held.get(caller)?.push(...issued.map(({ token }) => token));
    }
    for (const [caller, secrets] of held) {
      const first = most.get(caller) ?? "member";
      for (const secret of secrets) {
        const principal = await server.principalOf(secret).catch(() => undefined);
        const role = principal?.role ?? "member";
        expect([caller, role, includesRole(first, role)]).toEqual([caller, role, true]);
      }
    }
    // Nobody of them is an owner, who alone moves users.
    for (const [name, , organisation] of people)
      expect((await as("owner", `get /admin/v1/users/${name}`)).json).toMatchObject({
        organisation: organisation ?? null,
      });
    expect((await deps.log.verify()).fault).toBeUndefined();
  });
});

test("the last owner can't be disabled, demoted or deleted", async () => {
  expect(await as("owner", "patch /admin/v1/users/boss", { body: { role: "member" } })).toMatchObject({ status: 200 });
  for (const [route, body] of [
    ["patch /admin/v1/users/owner", { disabled: true }],
    ["patch /admin/v1/users/owner", { role: "billing" }],
    ["patch /admin/v1/users/owner", { expires_at: "1970-01-01T00:00:01Z" }],
    ["delete /admin/v1/users/owner", undefined],
  ] as const)
    expect(await as("owner", route, { body })).toMatchObject({ status: 409, code: "last_owner" });
  expect(await as("owner", "patch /admin/v1/users/owner", { body: { name: "root" } })).toMatchObject({ status: 200 });
});

test("nor the organisation of the last owner disabled, nor its access ended", async () => {
  await as("boss", "patch /admin/v1/users/owner", { body: { role: "member" } });
  for (const body of [{ disabled: true }, { expires_at: "1970-01-01T00:00:01Z" }])
    expect(await as("boss", "patch /admin/v1/organisations/acme", { body })).toMatchObject({
      status: 409,
      code: "last_owner",
    });
  // An owner whose access has ended is none that could act.
  await as("boss", "patch /admin/v1/users/owner", { body: { role: "owner", expires_at: "1970-01-01T00:00:01Z" } });
  expect(await as("boss", "patch /admin/v1/users/boss", { body: { role: "member" } })).toMatchObject({
    code: "last_owner",
  });
});

describe("a user", () => {
  test("is created, changed, disabled and deleted, and their name is given to somebody who inherits nothing", async () => {
    const made = await as("owner", "post /admin/v1/users", {
      body: { name: "ann", organisation: "acme", max_budget: 2.5 },
    });
    expect(made).toMatchObject({
      status: 200,
      json: { id: "ann", organisation: "acme", max_budget: 2.5, role: "member" },
    });
    const { json } = await as("owner", "post /admin/v1/tokens", { body: { user: "ann", rpm: 5 } });
    const token = String(json["token"]);
    expect((await ask(token, "get /admin/v1/users/ann")).status).toBe(200);
    await as("owner", "patch /admin/v1/users/ann", { body: { disabled: true } });
    expect(await ask(token, "get /admin/v1/users/ann")).toMatchObject({ status: 401, code: "user_disabled" });
    await as("owner", "patch /admin/v1/users/ann", { body: { disabled: false, max_budget: null } });
    expect((await ask(token, "get /admin/v1/users/ann")).json).toMatchObject({ disabled: false, max_budget: null });
    expect((await as("owner", "delete /admin/v1/users/ann")).json).toEqual({ id: "ann", deleted: true });
    expect(await ask(token, "get /admin/v1/tokens")).toMatchObject({ status: 401, code: "token_revoked" });
    const next = await as("owner", "post /admin/v1/users", { body: { name: "ann" } });
    expect(next.json["id"]).toMatch(/^user_[0-9a-z]{16}$/);
    expect(await as("owner", `get /admin/v1/tokens/${String(json["id"])}`)).toMatchObject({ status: 404 });
    expect((await as("owner", "get /admin/v1/users/ann")).json).toMatchObject({
      id: next.json["id"],
      organisation: null,
    });
  });

  test("keeps their id, and their spending, under another name", async () => {
    await as("owner", "patch /admin/v1/users/peer", { body: { name: "pat" } });
    expect((await as("owner", "get /admin/v1/users/pat")).json).toMatchObject({ id: "peer", name: "pat" });
    // The id is still theirs.
    expect(await as("owner", "post /admin/v1/users", { body: { name: "peer" } })).toMatchObject({
      status: 409,
      code: "name_taken",
    });
    expect(await as("peer", "get /admin/v1/users/peer")).toMatchObject({ status: 200, json: { name: "pat" } });
  });

  test("with credits is not deleted", async () => {
    await grantCredits(deps, { kind: "user", name: "auditor" }, credit);
    expect(await as("owner", "delete /admin/v1/users/auditor")).toMatchObject({ status: 409 });
    expect(await as("owner", "delete /admin/v1/organisations/acme")).toMatchObject({ status: 409 });
  });
});

test("a change is refused if somebody else has made one since", async () => {
  const { etag } = await as("owner", "get /admin/v1/users/peer");
  const headers = { "if-match": etag ?? "" };
  expect(await as("owner", "patch /admin/v1/users/peer", { body: { max_budget: 1 }, headers })).toMatchObject({
    status: 200,
  });
  for (const late of [headers, { "if-match": "nonsense" }])
    expect(await as("owner", "patch /admin/v1/users/peer", { body: { max_budget: 2 }, headers: late })).toMatchObject({
      status: 412,
      code: "precondition_failed",
    });
});

test("a dry run answers the same, and changes nothing", async () => {
  const tried = await as("owner", "patch /admin/v1/users/peer?dry_run=true", { body: { max_budget: 7 } });
  expect(tried.json).toMatchObject({ max_budget: 7 });
  expect((await as("owner", "get /admin/v1/users/peer")).json).toMatchObject({ max_budget: null });
  const { json } = await as("owner", "post /admin/v1/tokens?dry_run=true", { body: { user: "peer" } });
  expect(json["token"]).toBeNull();
  const headers = { "idempotency-key": "first" };
  const body = { organisation: "acme", amount: 5, reason: "x" };
  expect(await as("owner", "post /admin/v1/credits?dry_run=true", { body, headers })).toMatchObject({ status: 200 });
  expect((await as("owner", "get /admin/v1/organisations/acme")).json).toMatchObject({ balance: 0 });
  // The key is still free.
  await as("owner", "post /admin/v1/credits", { body: { ...body, amount: 6 }, headers });
  expect((await as("owner", "get /admin/v1/organisations/acme")).json).toMatchObject({ balance: 6 });
});

test("a token is rotated with an overlap, paused, limited and revoked", async () => {
  const id = idOf("peer");
  const { json } = await as("owner", `post /admin/v1/tokens/${id}/rotate`, { body: { overlap: 60 } });
  const next = String(json["token"]);
  expect(next).toStartWith(`tg_${id}_`);
  for (const token of [secretOf("peer"), next]) expect((await ask(token, "get /admin/v1/users/peer")).status).toBe(200);
  server.now += 60_000;
  expect(await as("peer", "get /admin/v1/users/peer")).toMatchObject({ status: 401, code: "invalid_token" });
  const changes = { paused: true, rpm: 7, models: ["openai/*"] };
  expect((await as("owner", `patch /admin/v1/tokens/${id}`, { body: changes })).json).toMatchObject(changes);
  expect(await ask(next, "get /admin/v1/users/peer")).toMatchObject({ status: 401, code: "token_paused" });
  await as("owner", `patch /admin/v1/tokens/${id}`, { body: { paused: false, rpm: null } });
  expect((await ask(next, `get /admin/v1/tokens/${id}`)).json).toMatchObject({ rpm: null, models: ["openai/*"] });
  await as("owner", `delete /admin/v1/tokens/${id}`);
  expect(await ask(next, "get /admin/v1/users/peer")).toMatchObject({ status: 401, code: "token_revoked" });
});

describe("a renamed user", () => {
  test("keeps the id, which nobody else gets as a name", async () => {
    await as("owner", "patch /admin/v1/users/peer", { body: { name: "paula" } });
    for (const name of ["peer", "paula"]) {
      expect(await as("owner", "post /admin/v1/users", { body: { name } })).toMatchObject({ code: "name_taken" });
      expect(await as("owner", "patch /admin/v1/users/member", { body: { name } })).toMatchObject({
        code: "name_taken",
      });
      expect((await as("owner", `get /admin/v1/users/${name}`)).json).toMatchObject({ id: "peer", name: "paula" });
    }
    // A command that makes missing users gives the token to the same one.
    expect(await createToken(deps, { user: "peer" })).toMatchObject({ user: "paula" });
  });

  test("leaves the name to another one after the deletion, who inherits nothing", async () => {
    await as("owner", "patch /admin/v1/users/peer", { body: { name: "paula" } });
    await as("owner", "delete /admin/v1/users/peer");
    for (const name of ["peer", "paula"]) {
      const { json } = await as("owner", "post /admin/v1/users", { body: { name } });
      expect(json["id"]).not.toBe("peer");
      expect((await as("owner", `get /admin/v1/tokens?user=${name}`)).json).toMatchObject({ data: [] });
    }
    expect(await as("peer", "get /admin/v1/users/peer")).toMatchObject({ status: 401, code: "token_revoked" });
  });
});

test("users are listed by the id or the name of their organisation", async () => {
  await as("owner", "patch /admin/v1/organisations/acme", { body: { name: "acme-2" } });
  for (const organisation of ["acme", "acme-2"]) {
    const { json } = await as("owner", `get /admin/v1/users?organisation=${organisation}`);
    expect((json["data"] as { name: string }[]).map(({ name }) => name)).toContain("peer");
    expect((await as("organisation_admin", `get /admin/v1/users?organisation=${organisation}`)).json).toEqual(json);
  }
  expect((await as("owner", "get /admin/v1/users?organisation=nobody")).json).toMatchObject({ data: [] });
});

test("half a surrogate pair is no name, and no reason", async () => {
  for (const body of [{ name: "\ud83d" }, { rpm: 7, reason: "\udc00" }])
    expect(await as("owner", `patch /admin/v1/tokens/${idOf("peer")}`, { body })).toMatchObject({ status: 422 });
  const body = { name: "\ud83d\ude00", reason: "\ud83d\ude00" };
  expect(await as("owner", `patch /admin/v1/tokens/${idOf("peer")}`, { body })).toMatchObject({ status: 200 });
  expect((await deps.log.verify()).fault).toBeUndefined();
});

test("a token is refused at once by the process that has paused it", async () => {
  const { authenticator } = server;
  const acting = createAccounts(storage, deps.environment, "server", () => authenticator.forget());
  const headers = new Headers({ authorization: `Bearer ${secretOf("peer")}` });
  const authenticate = async () => authenticator.authenticate(headers);
  const first = await authenticate();
  await changeToken(acting, idOf("peer"), { paused: true }, { dryRun: true });
  expect(await authenticate()).toBe(first);
  await changeToken(acting, idOf("peer"), { paused: true });
  expect(await authenticate().catch((error: GatewayError) => error.code)).toBe("token_paused");
});

describe("credits", () => {
  const route = "post /admin/v1/credits";

  test("need a reason, and count once for a key", async () => {
    const body = { organisation: "acme", amount: 5, reason: "invoice 7" };
    expect(await as("billing", route, { body: { ...body, reason: undefined } })).toMatchObject({ status: 422 });
    const headers = { "idempotency-key": "invoice-7" };
    const first = await as("billing", route, { body, headers });
    expect(await as("billing", route, { body, headers })).toEqual(first);
    for (const other of [{ amount: 6 }, { organisation: "beta" }, { reason: "invoice 8" }])
      expect(await as("billing", route, { body: { ...body, ...other }, headers })).toMatchObject({
        status: 409,
        code: "idempotency_key_reused",
      });
    expect((await as("owner", "get /admin/v1/organisations/acme")).json).toMatchObject({ balance: 5, available: 5 });
    expect(await as("owner", route, { body: { ...body, amount: -6 } })).toMatchObject({ status: 409 });
    expect(await deps.accounts.audit()).toMatchObject({ entries: 1, drifts: [] });
  });

  test.each([
    { user: "nobody", amount: 1, reason: "x" },
    { amount: 1, reason: "x" },
    { user: "auditor", organisation: "acme", amount: 1, reason: "x" },
    { user: "auditor", amount: 0, reason: "x" },
    { user: "auditor", amount: "1", reason: "x" },
    { user: "auditor", amount: 1, reason: "x", extra: 1 },
    { user: "auditor", amount: 1, reason: "\0" },
    { user: "auditor", amount: 1, reason: "half a pair: \ud83d" },
  ])("refuse %p", async (body) => {
    expect([404, 422]).toContain((await as("owner", route, { body })).status);
  });
});
