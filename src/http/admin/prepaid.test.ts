/** Who decides whether credits limit an account, and that none are lost by it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addHolder, createToken } from "../../accounts/index.ts";
import type { Role } from "../../core/index.ts";
import { type Asked, AdminServer } from "./__fixtures__/admin-server.ts";

const people: readonly [name: string, role: Role, organisation?: string][] = [
  ["owner", "owner"],
  ["operator", "operator"],
  ["billing", "billing"],
  ["auditor", "auditor"],
  ["organisation_admin", "organisation_admin", "acme"],
  ["member", "member", "acme"],
  ["stranger", "member", "beta"],
];

let server: AdminServer;
let secrets: Map<string, string>;
beforeEach(async () => {
  server = await AdminServer.open();
  secrets = new Map();
  for (const [user, role, organisation] of people)
    secrets.set(user, (await createToken(server.deps, { user, role, organisation })).token);
  await addHolder(server.deps, { kind: "project", name: "acme-site", organisation: "acme" });
});
afterEach(() => server.close());

const as = (user: string, route: string, asked?: Asked) => server.ask(secrets.get(user) ?? "", route, asked);

describe("whether credits limit an account", () => {
  const organisation = "patch /admin/v1/organisations/acme";

  test("is decided by owners and billing alone, and not of who is in an organisation", async () => {
    for (const [caller, route, prepaid, status] of [
      ["organisation_admin", "patch /admin/v1/users/member", false, 403],
      ["organisation_admin", "patch /admin/v1/users/organisation_admin", true, 403],
      ["organisation_admin", organisation, false, 403],
      ["operator", organisation, false, 403],
      ["auditor", organisation, false, 403],
      ["billing", "patch /admin/v1/users/member", true, 409],
      ["owner", "patch /admin/v1/projects/acme-site", true, 409],
      ["billing", organisation, false, 200],
    ] as const) {
      const met = await as(caller, route, { body: { prepaid } });
      expect([caller, route, met.status]).toEqual([caller, route, status]);
    }
    expect((await as("owner", "get /admin/v1/users/member")).json).toMatchObject({ prepaid: false });
  });

  test("moves nobody's credits out of sight", async () => {
    await as("owner", "post /admin/v1/credits", { body: { organisation: "acme", amount: 5, reason: "x" } });
    expect((await as("billing", organisation, { body: { prepaid: false } })).json).toMatchObject({
      prepaid: false,
      balance: null,
      available: null,
    });
    const made = await as("owner", "post /admin/v1/users", { body: { name: "free", prepaid: false } });
    expect(made.json).toMatchObject({ prepaid: false, available: null });
    // An organisation that pays has its own.
    const body = { name: "x", organisation: "acme", prepaid: true };
    expect((await as("owner", "post /admin/v1/users", { body })).status).toBe(409);
    await as("owner", "post /admin/v1/credits", { body: { user: "free", amount: 2, reason: "x" } });
    for (const route of ["delete /admin/v1/users/free", "patch /admin/v1/users/free"])
      expect(
        await as("owner", route, { body: route.startsWith("patch") ? { organisation: "acme" } : undefined }),
      ).toMatchObject({ status: 409, code: "account_conflict" });
    expect((await as("billing", organisation, { body: { prepaid: true } })).json).toMatchObject({
      balance: 5,
      available: 5,
    });
    const moved = { organisation: "beta", prepaid: true };
    expect((await as("owner", "patch /admin/v1/users/stranger", { body: { organisation: null } })).status).toBe(200);
    expect((await as("owner", "patch /admin/v1/users/stranger", { body: moved })).status).toBe(409);
  });
});
