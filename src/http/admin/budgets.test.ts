/** Model groups and budgets by the API: who may set which, how many can stand beside a call, and what they answer. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createToken } from "../../accounts/index.ts";
import type { Role } from "../../core/index.ts";
import { AdminServer, type Asked } from "./__fixtures__/admin-server.ts";

let server: AdminServer;
let secrets: Map<string, string>;
let tokenId: string;

const people: readonly [user: string, role: Role, organisation: string | undefined][] = [
  ["owner", "owner", undefined],
  ["billing", "billing", undefined],
  ["admin", "organisation_admin", "acme"],
  ["ann", "member", "acme"],
  ["eve", "member", "beta"],
];

beforeEach(async () => {
  server = await AdminServer.open();
  secrets = new Map();
  for (const [user, role, organisation] of people) {
    const { token, id } = await createToken(server.deps, { user, role, organisation });
    secrets.set(user, token);
    if (user === "ann") tokenId = id;
  }
});
afterEach(() => server.close());

const as = (user: string, route: string, body?: object, asked: Asked = {}) =>
  server.ask(secrets.get(user) ?? "", route, { ...asked, body });
const make = (user: string, body: object) => as(user, "post /admin/v1/budgets", body);
const group = (name: string, ...models: string[]) => as("owner", "post /admin/v1/model_groups", { name, models });

test("a budget answers its settings and its spending, by its owner's name", async () => {
  await group("frontier", "openai/*");
  const raise = { by: 2.5, until: "1970-02-01T00:00:00.000Z" };
  const limits = { models: "frontier", max_budget: 20, period: "monthly", start: 15, raise };
  const { status, json } = await make("owner", { user: "ann", ...limits });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    object: "budget",
    user: "ann",
    organisation: null,
    token: null,
    owner_id: "ann",
    ...limits,
  });
  expect(json).toMatchObject({ spend: 0, held: 0, available: 22.5, period_reset_at: "1970-01-15T00:00:00.000Z" });
  const path = `/admin/v1/budgets/${String(json["id"])}`;
  expect((await as("owner", `get ${path}`)).json).toEqual(json);
  expect((await as("admin", "get /admin/v1/budgets")).json).toEqual({ object: "list", data: [json], has_more: false });
  expect((await as("admin", "get /admin/v1/budgets?user=ann")).json["data"]).toEqual([json]);
  expect((await as("admin", "get /admin/v1/budgets?user=eve")).status).toBe(404);
  server.now = Date.parse(raise.until);
  expect((await as("owner", `get ${path}`)).json).toMatchObject({ available: 20, raise: null });
  const changed = await as("owner", `patch ${path}`, { models: null, period: "weekly", max_budget: 3 });
  expect(changed.json).toMatchObject({ models: null, period: "weekly", start: null, max_budget: 3 });
  expect((await as("owner", `delete ${path}`)).json).toEqual({ id: json["id"], deleted: true });
  expect((await as("owner", `get ${path}`)).code).toBe("account_not_found");
  const acts = (await as("owner", "get /admin/v1/audit")).json["data"] as { act: string }[];
  expect(acts.map(({ act }) => act)).toContainValues(["budget.create", "budget.change", "budget.delete"]);
});

test.each<[user: string, body: object, status: number, code: string | undefined]>([
  ["billing", { organisation: "acme", max_budget: 1 }, 200, undefined],
  ["admin", { organisation: "acme", max_budget: 1 }, 403, "role_required"],
  ["admin", { user: "ann", max_budget: 30 }, 200, undefined],
  ["admin", { user: "ann", max_budget: 30.000000001 }, 403, "role_required"],
  ["admin", { user: "ann", max_budget: 30, raise: { by: 1, until: "1980-01-01T00:00:00Z" } }, 403, "role_required"],
  ["admin", { user: "eve", max_budget: 1 }, 404, "account_not_found"],
  ["admin", { user: "owner", max_budget: 1 }, 404, "account_not_found"],
  ["ann", { user: "ann", max_budget: 1 }, 403, "role_required"],
  ["owner", { max_budget: 1 }, 422, "validation_failed"],
  ["owner", { user: "ann", organisation: "acme", max_budget: 1 }, 422, "validation_failed"],
  ["owner", { user: "ann" }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: -1 }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: 1, period: "weekly", start: 8 }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: 1, period: "quarterly", start: 13 }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: 1, period: "daily", start: 1 }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: 1, start: 1 }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: 1, raise: { by: 1, until: "1970-01-01T00:00:00Z" } }, 422, "validation_failed"],
  ["owner", { user: "ann", max_budget: 1, models: "none" }, 404, "account_not_found"],
  ["owner", { user: "nobody", max_budget: 1 }, 404, "account_not_found"],
])("%s makes %p: %d %s", async (user, body, status, code) => {
  await as("owner", "patch /admin/v1/organisations/acme", { max_budget: 30 });
  expect(await make(user, body)).toMatchObject({ status, ...(code !== undefined && { code }) });
});

test("a fifth beside one call is refused when it is made, wherever in the chain", async () => {
  const full = { status: 422, code: "too_many_budgets" };
  for (const owner of [{ organisation: "acme" }, { organisation: "acme" }, { user: "ann" }, { token: tokenId }])
    expect(await make("owner", { ...owner, max_budget: 1 })).toMatchObject({ status: 200 });
  for (const owner of [{ organisation: "acme" }, { user: "ann" }, { token: tokenId }])
    expect(await make("owner", { ...owner, max_budget: 1 })).toMatchObject(full);
  // Beside another member's calls there are two.
  expect(await make("owner", { user: "admin", max_budget: 1 })).toMatchObject({ status: 200 });
  expect(await make("owner", { user: "eve", max_budget: 1 })).toMatchObject({ status: 200 });
});

test("budgets whose groups have no model in common do not meet, until a group is changed", async () => {
  const names = ["openai", "anthropic", "xai", "google", "mistral", "deepseek"];
  for (const name of names) {
    await group(name, `${name}/*`);
    expect(await make("owner", { organisation: "acme", max_budget: 1, models: name })).toMatchObject({ status: 200 });
  }
  const change = (name: string, models: string[]) => as("owner", `patch /admin/v1/model_groups/${name}`, { models });
  for (const name of names.slice(0, 3)) expect(await change(name, ["*"])).toMatchObject({ status: 200 });
  // Beside the three for all models there are those of one provider each: four of a call.
  expect(await change("google", ["goo*le/*"])).toMatchObject({ status: 200 });
  expect(await change("google", ["*r*"])).toMatchObject({ status: 422, code: "too_many_budgets" });
  expect((await as("owner", "get /admin/v1/model_groups/google")).json["models"]).toEqual(["goo*le/*"]);
});

test("a group has one name, is kept while a budget is for it, and is changed by nobody who saw another version", async () => {
  const { json, etag } = await group("frontier", "openai/*");
  expect(await group("frontier", "xai/*")).toMatchObject({ status: 409, code: "name_taken" });
  const path = `/admin/v1/model_groups/${String(json["id"])}`;
  const { json: budget } = await make("owner", { organisation: "acme", max_budget: 1, models: "frontier" });
  expect(await as("owner", `delete ${path}`)).toMatchObject({ status: 409 });
  const match = { headers: { "if-match": etag ?? "" } };
  expect(await as("owner", `patch ${path}?dry_run=true`, { name: "best" }, match)).toMatchObject({ status: 200 });
  expect(await as("owner", `patch ${path}`, { name: "best" }, match)).toMatchObject({ status: 200 });
  expect(await as("owner", `patch ${path}`, { name: "worst" }, match)).toMatchObject({ status: 412 });
  expect(await as("billing", `delete /admin/v1/budgets/${String(budget["id"])}`)).toMatchObject({ status: 200 });
  expect(await as("owner", `delete ${path}`)).toMatchObject({ status: 200 });
  expect((await as("owner", "get /admin/v1/model_groups")).json["data"]).toEqual([]);
});

test("the budgets of a deleted user and of their tokens are gone, and keep no group", async () => {
  await group("frontier", "openai/*");
  await make("owner", { user: "ann", max_budget: 1 });
  await make("owner", { token: tokenId, max_budget: 1, models: "frontier" });
  await make("owner", { user: "eve", max_budget: 1 });
  expect(await as("owner", "delete /admin/v1/users/ann")).toMatchObject({ status: 200 });
  const { json } = await as("owner", "get /admin/v1/budgets");
  expect(json["data"]).toMatchObject([{ user: "eve" }]);
  expect(await as("owner", "delete /admin/v1/model_groups/frontier")).toMatchObject({ status: 200 });
});
