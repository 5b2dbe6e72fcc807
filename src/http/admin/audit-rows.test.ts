/** Each route that changes something writes one row for one act, and none for a dry run or a refusal. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { z } from "@hono/zod-openapi";
import { addBudget, addGroup, addHolder, createToken } from "../../accounts/index.ts";
import { addBatch, addSession, AdminServer } from "./__fixtures__/admin-server.ts";
import { adminRoutes } from "./admin-routes.ts";
import { operatorRoutes } from "./operator/index.ts";
import { type AdminRoute, routeRoles } from "./route-roles.ts";

/** Without those of browsers' sessions, which have tests of their own. */
type ChangingRoute = Exclude<AdminRoute, `get ${string}` | `${string}/session${string}`>;

interface Act {
  /** The row's. */
  act: string;
  body?: object;
  /** In place of `{id}`. */
  id?: () => string;
}

let server: AdminServer;
let owner: string;
let [token, budget] = ["", ""];

beforeEach(async () => {
  server = await AdminServer.open();
  const { deps } = server;
  owner = (await createToken(deps, { user: "owner", role: "owner" })).token;
  token = (await createToken(deps, { user: "ann", organisation: "acme" })).id;
  await createToken(deps, { user: "ben" });
  await addHolder(deps, { kind: "project", name: "site", members: ["ben"] });
  await addGroup(deps, { name: "unused", models: ["openai/*"] });
  await addSession(server, "session");
  await addBatch(server, "batch_1");
  budget = (await addBudget(deps, { kind: "user", name: "ann" }, { maxBudget: 1n })).budget.id;
});
afterEach(() => server.close());

const limits = { max_budget: 2, rpm: 7, models: ["openai/*"], disabled: true };
const acts: Readonly<Record<ChangingRoute, Act>> = {
  "post /admin/v1/organisations": { act: "organisation.create", body: { name: "new", ...limits } },
  "patch /admin/v1/organisations/{id}": { act: "organisation.change", body: limits, id: () => "acme" },
  "delete /admin/v1/organisations/{id}": { act: "organisation.delete", id: () => "empty" },
  "post /admin/v1/users": { act: "user.create", body: { name: "new", organisation: "acme", ...limits } },
  "patch /admin/v1/users/{id}": { act: "user.move", body: { organisation: null, ...limits }, id: () => "ann" },
  "delete /admin/v1/users/{id}": { act: "user.delete", id: () => "ann" },
  "post /admin/v1/projects": { act: "project.create", body: { name: "new", members: ["ben"], ...limits } },
  "patch /admin/v1/projects/{id}": {
    act: "project.move",
    body: { organisation: "acme", members: ["ann"], ...limits },
    id: () => "site",
  },
  "delete /admin/v1/projects/{id}": { act: "project.delete", id: () => "site" },
  "post /admin/v1/tokens": { act: "token.create", body: { user: "ann", rpm: 5, paused: true } },
  "patch /admin/v1/tokens/{id}": { act: "token.change", body: { rpm: 5, max_budget: 1 }, id: () => token },
  "delete /admin/v1/tokens/{id}": { act: "token.revoke", id: () => token },
  "post /admin/v1/tokens/{id}/rotate": { act: "token.rotate", body: { overlap: 5 }, id: () => token },
  "put /admin/v1/people": { act: "user.create", body: { people: [{ name: "new", rpm: 5, organisation: "acme" }] } },
  "post /admin/v1/model_groups": { act: "model_group.create", body: { name: "new", models: ["xai/*"] } },
  "patch /admin/v1/model_groups/{id}": { act: "model_group.change", body: { models: ["xai/*"] }, id: () => "unused" },
  "delete /admin/v1/model_groups/{id}": { act: "model_group.delete", id: () => "unused" },
  "post /admin/v1/budgets": { act: "budget.create", body: { user: "ann", max_budget: 1, models: "unused" } },
  "patch /admin/v1/budgets/{id}": { act: "budget.change", body: { max_budget: 5, models: "unused" }, id: () => budget },
  "delete /admin/v1/budgets/{id}": { act: "budget.delete", id: () => budget },
  "post /admin/v1/credits": { act: "credits.grant", body: { user: "ben", amount: 5 } },
  "patch /admin/v1/providers/{id}": { act: "target.disable", body: { disabled: true, for: 60 }, id: () => "openai" },
  "delete /admin/v1/realtime_sessions/{id}": { act: "realtime_session.end", id: () => "session" },
  "post /admin/v1/batches/{id}/cancel": { act: "batch.cancel", id: () => "batch_1" },
  "post /admin/v1/config/reload": { act: "config.reload", body: {} },
};

describe("one row", () => {
  test.each(Object.entries(acts))("%s", async (route, { act, body, id = () => "" }) => {
    const { deps } = server;
    if (act === "organisation.delete")
      await server.ask(owner, "post /admin/v1/organisations", { body: { name: id() } });
    const path = route.replace("{id}", id());
    const asked = { ...(body && { body }), headers: { "x-tollgate-reason": Buffer.from("größe").toString("latin1") } };
    const before = await deps.log.list({ limit: 500 });
    expect(await server.ask(owner, `${path}?dry_run=true`, asked)).toMatchObject({ status: 200 });
    expect(await deps.log.list({ limit: 500 })).toEqual(before);
    expect(await server.ask(owner, path, asked)).toMatchObject({ status: 200 });
    const [row, ...rest] = await deps.log.list({ limit: 500 });
    expect(rest).toEqual(before);
    const actor = `token:${owner.split("_")[1]}`;
    expect(row).toMatchObject({
      act,
      actor,
      address: "192.0.2.7",
      reason: "größe",
      requestId: expect.any(String) as string,
    });
    expect((await deps.log.verify()).fault).toBeUndefined();
  });

  test("none for who may not", async () => {
    const { deps } = server;
    const { token: member } = await createToken(deps, { user: "ben" });
    const before = await deps.log.list({ limit: 1 });
    for (const [route, { body, id = () => "" }] of Object.entries(acts))
      expect((await server.ask(member, route.replace("{id}", id()), { ...(body && { body }) })).status).toBeGreaterThan(
        400,
      );
    expect(await deps.log.list({ limit: 1 })).toEqual(before);
  });
});

test("the rows of the table are the routes that change something", () => {
  const changing = Object.keys(routeRoles).filter((route) => !route.startsWith("get ") && !route.includes("/session"));
  expect(Object.keys(acts).toSorted()).toEqual(changing.toSorted());
});

describe("the conventions of changes", () => {
  const changing = [...adminRoutes, ...operatorRoutes].filter(({ method }) => method !== "get");
  const named = changing.map(({ method, path, contract }) => [`${method} ${path}`, contract?.request] as const);
  // A switch of a provider is set, not changed, and a session is ended.
  const hasVersion = (route: string): boolean =>
    route.includes("{id}") && !/providers|realtime_sessions|batches/.test(route);
  const namesOf = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

  test.each(named)("%s takes a dry run and a reason, and a version if it has one", (route, request) => {
    expect(namesOf(request?.query)).toContain("dry_run");
    expect(namesOf(request?.headers)).toContain("x-tollgate-reason");
    expect(namesOf(request?.headers).includes("if-match")).toBe(hasVersion(route));
  });

  test.each(Object.entries(acts).filter(([route]) => /^(?:patch|delete) .*\{id\}$/.test(route) && hasVersion(route)))(
    "%s is refused with another version, and none is changed",
    async (route, { act, body, id = () => "" }) => {
      if (act === "organisation.delete")
        await server.ask(owner, "post /admin/v1/organisations", { body: { name: id() } });
      const path = route.replace("{id}", id());
      const { status, etag } = await server.ask(owner, path.replace(/^\w+/, "get"));
      expect([status, etag]).toEqual([200, expect.stringMatching(/^"\d+"$/) as string]);
      const asked = (version: string) => ({ ...(body && { body }), headers: { "if-match": version } });
      const before = await server.deps.log.list({ limit: 1 });
      expect(await server.ask(owner, path, asked('"999"'))).toMatchObject({ status: 412, code: "precondition_failed" });
      expect(await server.deps.log.list({ limit: 1 })).toEqual(before);
      expect(await server.ask(owner, path, asked(etag ?? ""))).toMatchObject({ status: 200 });
    },
  );
});
