/** Members make, rotate and revoke their own tokens within the policy of their organisation, and get no more by that. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { changeToken, createToken, issueTokenTo, rotateToken } from "../../accounts/index.ts";
import { openTokenStore } from "../../auth/index.ts";
import { AdminServer, type Asked } from "./__fixtures__/admin-server.ts";

const DAY = 86_400;
let server: AdminServer;
let ann: { id: string; token: string };
let admin: { id: string; token: string };
let owner: { token: string };

beforeEach(async () => {
  server = await AdminServer.open();
  const { deps } = server;
  owner = await createToken(deps, { user: "root", role: "owner" });
  ann = await createToken(deps, { user: "ann", organisation: "acme" });
  admin = await createToken(deps, { user: "head", organisation: "acme", role: "organisation_admin" });
});
afterEach(() => server.close());

const ask = (token: string, route: string, body?: object, more: Asked = {}) =>
  server.ask(token, route, { ...more, ...(body !== undefined && { body }) });
const make = (body: object = {}, token = ann.token) => ask(token, "post /admin/v1/tokens", body);

async function setPolicy(policy: object | null): Promise<void> {
  const { status } = await ask(owner.token, "patch /admin/v1/organisations/acme", { token_policy: policy });
  expect(status).toBe(200);
}

/** The end of a token in seconds from the last request on. */
const lifeOf = ({ json }: { json: Record<string, unknown> }): number =>
  Math.round((Date.parse(String(json["expires_at"])) - server.now) / 1_000);

describe("without a policy", () => {
  test("members make none, and have only the token that they present", async () => {
    const other = await createToken(server.deps, { user: "ann", organisation: "acme" });
    expect((await make()).code).toBe("role_required");
    for (const route of [`post /admin/v1/tokens/${other.id}/rotate`, `delete /admin/v1/tokens/${other.id}`])
      expect((await ask(ann.token, route)).code).toBe("role_required");
    expect((await ask(ann.token, `post /admin/v1/tokens/${ann.id}/rotate`)).status).toBe(200);
  });

  test("a user of no organisation makes none either", async () => {
    const lone = await createToken(server.deps, { user: "lone" });
    expect((await make({}, lone.token)).code).toBe("role_required");
  });
});

describe("within a policy", () => {
  beforeEach(() => setPolicy({ max_tokens: 3, max_expires: 30 * DAY, max_budget: 10 }));

  test("a member makes tokens with its bounds, up to their number", async () => {
    const first = await make({ name: "laptop" });
    expect([first.status, first.json["user"], first.json["max_budget"], lifeOf(first)]).toEqual([
      200,
      "ann",
      10,
      30 * DAY,
    ]);
    expect((await ask(String(first.json["token"]), "get /admin/v1/tokens")).status).toBe(200);
    expect((await make({ max_budget: 2, rpm: 5, models: ["openai/*"] })).json).toMatchObject({ max_budget: 2, rpm: 5 });
    expect((await make()).code).toBe("role_required");
    // A revoked or expired one makes room.
    expect((await ask(ann.token, `delete /admin/v1/tokens/${String(first.json["id"])}`)).status).toBe(200);
    expect((await make()).status).toBe(200);
    expect((await make()).code).toBe("role_required");
    server.now += 31 * DAY * 1_000;
    expect((await make()).status).toBe(200);
  });

  test("not more than once by many requests at once", async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => make()));
    expect(made.filter(({ status }) => status === 200)).toHaveLength(2);
  });

  test.each<[string, object]>([
    ["a larger budget", { max_budget: 11 }],
    ["a budget that starts again", { max_budget: 10, period: "daily" }],
    ["no budget but a period", { period: "monthly" }],
    ["a later end", { expires_at: "2099-01-01T00:00:00Z" }],
    ["a service", { service: true }],
    ["a role", { role: "owner" }],
    ["a role of the organisation", { role: "organisation_admin" }],
  ])("%s is refused", async (_, body) => {
    expect((await make(body)).code).toBe("role_required");
    expect((await ask(ann.token, "get /admin/v1/tokens")).json["data"]).toHaveLength(1);
  });

  test("others' tokens stay out of reach", async () => {
    const peer = await createToken(server.deps, { user: "peer", organisation: "acme" });
    expect((await make({ user: "peer" })).status).toBe(404);
    expect((await make({ user: "root" })).status).toBe(404);
    for (const route of [`post /admin/v1/tokens/${peer.id}/rotate`, `delete /admin/v1/tokens/${peer.id}`])
      expect((await ask(ann.token, route)).status).toBe(404);
  });

  test("an own token is rotated and revoked; the limits of one are not changed", async () => {
    const made = await make();
    const id = String(made.json["id"]);
    const rotated = await ask(ann.token, `post /admin/v1/tokens/${id}/rotate`);
    expect([rotated.status, rotated.json["id"], rotated.json["max_budget"]]).toEqual([200, id, 10]);
    expect((await ask(ann.token, `patch /admin/v1/tokens/${id}`, { max_budget: null })).code).toBe("role_required");
    expect((await ask(ann.token, `delete /admin/v1/tokens/${id}`)).status).toBe(200);
  });

  test("a token with limits of its own gets no other one by any of it", async () => {
    const own = String((await make()).json["token"]);
    const { id } = ann;
    for (const [route, body] of [
      ["post /admin/v1/tokens", {}],
      [`post /admin/v1/tokens/${id}/rotate`, {}],
      [`delete /admin/v1/tokens/${id}`, undefined],
    ] as const)
      expect((await ask(own, route, body)).code).toBe("role_required");
    const limits = [
      { models: ["a/*"] },
      { tools: ["web_*"] },
      { rpm: 1 },
      { tpm: 1 },
      { concurrency: 1 },
      { maxBudget: 1n },
    ];
    for (const limit of limits) {
      const { id: limited, token } = await createToken(server.deps, {
        user: `u${Object.keys(limit).join()}`,
        organisation: "acme",
      });
      await changeToken(server.deps, limited, limit);
      expect((await make({}, token)).code).toBe("role_required");
    }
  });

  test("a lesser token of somebody with a role makes no greater one", async () => {
    const lesser = await createToken(server.deps, { user: "head", organisation: "acme", role: "member" });
    expect((await make({ role: "organisation_admin" }, lesser.token)).code).toBe("role_required");
    expect((await make({}, lesser.token)).json["role"]).toBe("member");
  });

  test("an admin of the organisation is bound by it, an owner is not", async () => {
    const made = await make({ user: "ann" }, admin.token);
    expect([made.json["max_budget"], lifeOf(made)]).toEqual([10, 30 * DAY]);
    expect((await make({ user: "ann", max_budget: 11 }, admin.token)).code).toBe("role_required");
    const route = `patch /admin/v1/tokens/${String(made.json["id"])}`;
    for (const body of [{ max_budget: 11 }, { max_budget: null }, { expires_at: null }, { period: "daily" }])
      expect((await ask(admin.token, route, body)).code).toBe("role_required");
    expect((await ask(admin.token, route, { paused: true, max_budget: 9 })).status).toBe(200);
    // One that an owner has made may stay beyond it, as long as its limits are not touched.
    const older = `patch /admin/v1/tokens/${ann.id}`;
    expect((await ask(admin.token, older, { name: "older" })).status).toBe(200);
    expect((await ask(admin.token, older, { max_budget: 100 })).code).toBe("role_required");
    expect((await make({ user: "ann", max_budget: 11 }, owner.token)).status).toBe(200);
  });

  test("it is shown, changed by owners alone, and taken away", async () => {
    const shown = await ask(admin.token, "get /admin/v1/organisations/acme");
    expect(shown.json["token_policy"]).toEqual({ max_tokens: 3, max_expires: 30 * DAY, max_budget: 10 });
    const billing = await createToken(server.deps, { user: "payer", role: "billing" });
    for (const { token } of [admin, billing, ann])
      expect((await ask(token, "patch /admin/v1/organisations/acme", { token_policy: {} })).code).toBe("role_required");
    await setPolicy({});
    for (let count = 0; count < 5; count += 1) expect((await make()).json["max_budget"]).toBeNull();
    await setPolicy(null);
    expect((await make()).code).toBe("role_required");
    const rows = await server.deps.log.listAfter(0, 100);
    expect(rows.at(-1)).toMatchObject({
      act: "organisation.change",
      after: expect.stringContaining(`"token_policy":null`) as string,
    });
    expect((await openTokenStore(server.storage).list()).filter(({ user }) => user === "ann")).toHaveLength(6);
  });
});

describe("an organisation's admin does not lift limits", () => {
  test("of their own user, nor of another admin", async () => {
    await createToken(server.deps, { user: "other", organisation: "acme", role: "organisation_admin" });
    for (const user of ["head", "other"]) {
      await ask(owner.token, `patch /admin/v1/users/${user}`, { rpm: 7, max_budget: 2 });
      const made = await ask(owner.token, "post /admin/v1/budgets", { user, max_budget: 1 });
      for (const body of [{ rpm: null }, { rpm: 99 }, { max_budget: null }, { models: ["*"] }, { disabled: true }])
        expect((await ask(admin.token, `patch /admin/v1/users/${user}`, body)).code).toBe("role_required");
      const file = await ask(admin.token, "put /admin/v1/people", { people: [{ name: user, rpm: null }] });
      const budget = await ask(admin.token, `delete /admin/v1/budgets/${String(made.json["id"])}`);
      expect([file.code, budget.code]).toEqual(["role_required", "role_required"]);
    }
    expect((await ask(admin.token, "patch /admin/v1/users/ann", { rpm: 99 })).status).toBe(200);
  });

  test("by a second admin: roles of admins are changed by owners, and one with limits makes no admin", async () => {
    const makes = ["post /admin/v1/users", { name: "second", role: "organisation_admin" }] as const;
    const raises = ["patch /admin/v1/users/ann", { role: "organisation_admin" }] as const;
    const limited = await createToken(server.deps, { user: "head", rpm: 7 });
    for (const [route, body] of [makes, raises])
      expect((await ask(limited.token, route, body)).code).toBe("role_required");
    expect((await ask(admin.token, ...makes)).status).toBe(200);
    for (const user of ["head", "second"]) {
      const demotes = [`patch /admin/v1/users/${user}`, { role: "member" }] as const;
      expect((await ask(admin.token, ...demotes)).code).toBe("role_required");
      expect((await ask(admin.token, demotes[0], { role: "organisation_admin" })).status).toBe(200);
    }
    const budget = await ask(owner.token, "post /admin/v1/budgets", { user: "head", max_budget: 1 });
    expect((await ask(admin.token, ...raises)).code).toBe("role_required");
    await ask(owner.token, `delete /admin/v1/budgets/${String(budget.json["id"])}`);
    for (const limit of [{ max_budget: 5 }, { models: ["openai/*"] }]) {
      await ask(owner.token, "patch /admin/v1/users/head", { max_budget: null, models: null, ...limit });
      expect((await ask(admin.token, ...raises)).code).toBe("role_required");
    }
    await ask(owner.token, "patch /admin/v1/users/head", { models: null });
    expect((await ask(admin.token, ...raises)).status).toBe(200);
    expect((await ask(owner.token, "patch /admin/v1/users/ann", { role: "member" })).status).toBe(200);
  });

  test("of the token that they present, nor by another one of their own", async () => {
    const limited = await createToken(server.deps, { user: "head", rpm: 7 });
    const free = await createToken(server.deps, { user: "head" });
    for (const [route, body] of [
      [`patch /admin/v1/tokens/${limited.id}`, { rpm: null }],
      [`patch /admin/v1/tokens/${free.id}`, { rpm: 9 }],
      ["post /admin/v1/tokens", {}],
      [`post /admin/v1/tokens/${free.id}/rotate`, {}],
    ] as const)
      expect((await ask(limited.token, route, body)).code).toBe("role_required");
    const other = await createToken(server.deps, { user: "other", organisation: "acme", role: "organisation_admin" });
    const lifted = await ask(other.token, `patch /admin/v1/tokens/${limited.id}`, { rpm: null });
    expect(lifted.code).toBe("role_required");
    for (const [route, body] of [
      [`patch /admin/v1/tokens/${ann.id}`, { rpm: 9 }],
      [`post /admin/v1/tokens/${limited.id}/rotate`, {}],
    ] as const)
      expect((await ask(limited.token, route, body)).status).toBe(200);
  });
});

describe("who presents a signed token", () => {
  const until = (): number => server.now + 3_600_000;
  const caller = () => ({
    ...server.deps,
    caller: {
      ...server.deps.caller,
      role: "organisation_admin" as const,
      user: "head",
      organisation: "acme",
      tokenId: admin.id,
      signedUntil: until(),
    },
  });

  test("makes no token of their own that outlives it, and gets no secret of one", async () => {
    const acting = caller();
    const own = { kind: "user", name: "head" } as const;
    const { token } = await issueTokenTo(acting, { owner: own });
    expect(token.expiresAt).toBe(acting.caller.signedUntil);
    const shorter = await issueTokenTo(acting, { owner: own, expiresAt: server.now + 1_000 });
    expect(shorter.token.expiresAt).toBe(server.now + 1_000);
    expect((await rotateToken(acting, shorter.token.id, 0)).secret).toStartWith("tg_");
    const lasting = await createToken(server.deps, { user: "head" });
    for (const refused of [
      () => issueTokenTo(acting, { owner: own, expiresAt: until() + 1 }),
      () => rotateToken(acting, lasting.id, 0),
      () => changeToken(acting, token.id, { expiresAt: null }),
      () => changeToken(acting, token.id, { expiresAt: until() + 1 }),
    ])
      expect(refused()).rejects.toThrow("The presented token ends before that");
    // Those of others are bounded by the policy alone.
    expect((await issueTokenTo(acting, { owner: { kind: "user", name: "ann" } })).token.expiresAt).toBeUndefined();
  });
});
