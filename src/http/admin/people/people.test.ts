/** Many users from one file, on a storage in memory. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { changeHolder, createToken, type PeopleDifference } from "../../../accounts/index.ts";
import { openLedgerStore } from "../../../ledger/index.ts";
import { AdminServer } from "../__fixtures__/admin-server.ts";

let server: AdminServer;
let owner: string;
let admin: string;

beforeEach(async () => {
  server = await AdminServer.open();
  const make = async (user: string, role: "owner" | "organisation_admin" | "member", organisation?: string) =>
    (await createToken(server.deps, { user, role, organisation })).token;
  owner = await make("root", "owner");
  admin = await make("admin", "organisation_admin", "acme");
  await make("ann", "member", "acme");
  await make("bea", "member", "beta");
});
afterEach(() => server.close());

const csv = { "content-type": "text/csv; charset=utf-8" };
const route = "put /admin/v1/people";

async function apply(body: object | string, { token = owner, query = "" } = {}) {
  const headers: Record<string, string> = typeof body === "string" ? csv : {};
  return server.ask(token, `${route}${query}`, { body, headers });
}

async function applied(body: object | string, options?: Parameters<typeof apply>[1]): Promise<PeopleDifference> {
  const { status, json } = await apply(body, options);
  expect([status, json.error]).toEqual([200, undefined]);
  return json as unknown as PeopleDifference;
}

const userOf = async (name: string) => (await server.ask(owner, `get /admin/v1/users/${name}`)).json;
const rows = () => server.deps.log.listAfter(0, 5_000);

test("300 people are made from one file, each with a token that works, and a second time nothing changes", async () => {
  const lines = Array.from(
    { length: 300 },
    (_, index) => `p${index},acme,member,true,"openai/*, xai/*",60,,2,1.5,monthly,`,
  );
  const header = "name,organisation,role,token,models,rpm,tpm,concurrency,max_budget,period,disabled";
  const file = `\ufeff${header}\r\n${lines.join("\r\n")}\r\n`;
  const startedAt = process.cpuUsage();
  const first = await applied(file);
  const { user, system } = process.cpuUsage(startedAt);
  expect((user + system) / 1e6).toBeLessThan(10);
  expect([first.created.length, first.changed, first.unchanged, first.tokens.length]).toEqual([300, [], [], 300]);
  expect(await userOf("p299")).toMatchObject({
    organisation: "acme",
    models: ["openai/*", "xai/*"],
    rpm: 60,
    tpm: null,
    concurrency: 2,
    max_budget: 1.5,
    period: "monthly",
    disabled: false,
  });
  for (const { token_id: id, token } of [first.tokens[0], first.tokens[299]].flatMap((issued) => issued ?? []))
    expect((await server.principalOf(String(token))).tokenId).toBe(String(id));
  const acts = (await rows()).map(({ act }) => act);
  expect(acts.filter((act) => act === "user.create")).toHaveLength(304);
  expect(acts.filter((act) => act === "user.change")).toHaveLength(0);
  const second = await applied(file);
  expect([second.created, second.changed, second.unchanged.length, second.tokens]).toEqual([[], [], 300, []]);
  expect((await rows()).length).toBe(acts.length);
  expect((await server.deps.log.verify()).fault).toBeUndefined();
});

test("who is not in the file stays; empty cells change nothing, and none takes a limit away", async () => {
  await applied("name,rpm,max_budget,models\nann,5,2,openai/*\n");
  const before = await userOf("bea");
  const { changed } = await applied("name,rpm,max_budget,models,disabled\nann,,none,none,TRUE\n");
  expect(changed).toEqual([
    {
      name: "ann",
      before: { models: ["openai/*"], max_budget: 2, disabled: false },
      after: { models: null, max_budget: null, disabled: true },
    },
  ]);
  expect(await userOf("ann")).toMatchObject({ rpm: 5, disabled: true });
  expect(await userOf("bea")).toEqual(before);
});

test("the same from JSON, with the reason in the log", async () => {
  const people = [
    { name: "ann", rpm: 5 },
    { name: "new", organisation: null, max_budget: 3, token: true },
  ];
  const { created, changed, tokens } = await applied({ people, reason: "a new team" });
  expect([created, changed.map(({ name }) => name), tokens.map(({ name }) => name)]).toEqual([
    ["new"],
    ["ann"],
    ["new"],
  ]);
  const written = (await rows()).slice(-3);
  expect(written.map(({ act, reason }) => [act, reason])).toEqual([
    ["user.change", "a new team"],
    ["user.create", "a new team"],
    ["token.create", "a new team"],
  ]);
  expect(JSON.stringify(written)).not.toContain(String(tokens[0]?.token));
});

test("a dry run shows the difference, changes nothing and has no secret", async () => {
  const before = await rows();
  const people = [
    { name: "ann", rpm: 5 },
    { name: "new", token: true },
  ];
  const difference = await applied({ people }, { query: "?dry_run=true" });
  expect(difference).toMatchObject({
    created: ["new"],
    changed: [{ name: "ann", before: { rpm: null }, after: { rpm: 5 } }],
    tokens: [{ name: "new", token_id: null, token: null }],
  });
  expect(await rows()).toEqual(before);
  expect((await server.ask(owner, "get /admin/v1/users/new")).status).toBe(404);
});

test("a token is issued where there is none that can be used", async () => {
  const { token: expiring } = await createToken(server.deps, { user: "old", expiresInMs: 5_000 });
  const paused = await createToken(server.deps, { user: "idle" });
  await server.ask(owner, `patch /admin/v1/tokens/${paused.id}`, { body: { paused: true } });
  server.now += 10_000;
  const { tokens } = await applied("name,token\nann,true\nold,true\nidle,true\nbea,false\n");
  expect(tokens.map(({ name }) => name)).toEqual(["old"]);
  expect(tokens[0]?.token).not.toBe(expiring);
});

describe("a wrong row is named by its number, and nothing is changed", () => {
  test.each<[string, object | string, string]>([
    [
      "an unknown organisation",
      "name,organisation\nnew,acme\nother,nowhere\n",
      "row 2 (other): there is no organisation nowhere",
    ],
    ["a name twice", "name,rpm\nnew,1\nann,2\nnew,3\n", "row 3 (new): it is in row 1 already"],
    ["a negative number", "name,rpm\nnew,1\nann,-2\n", "row 2 (ann): rpm: must be a number"],
    ["no boolean", "name,disabled\nnew,yes\n", "row 1 (new): disabled: must be"],
    ["an unknown role", "name,role\nnew,king\n", "row 1 (new): role: "],
    ["a name of another form", 'name\n"x, y"\n', "row 1: name: "],
    ["a missing name", "name,rpm\n,5\n", "row 1: name: is missing"],
    ["an unknown member", { people: [{ name: "new" }, { name: "ann", password: "x" }] }, "row 2 (ann): "],
    ["no object", { people: [{ name: "new" }, 7] }, "row 2: body: must be an object"],
    ["a hostile member", '{"people":[{"name":"new","__proto__":{"role":"owner"}}]}', "row 1 (new): "],
    ["an unknown column", "name,password\nnew,x\n", "The first line names columns"],
    ["a column twice", "name,rpm,rpm\nnew,1,2\n", "The first line names columns"],
    ["no column of names", "organisation\nacme\n", "The first line names columns"],
    ["a line with another number of cells", "name,rpm\nnew,1\nann\n", "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH, line 3"],
    ["an open quote", 'name\nnew\n"ann\n', "The CSV can't be read"],
    ["no row", "name\n", "people: "],
    ["an empty file", "", "The first line names columns"],
    ["too many rows", `name\n${Array.from({ length: 1_001 }, (_, index) => `new${index}`).join("\n")}`, "people: "],
  ])("%s", async (_, body, message) => {
    const before = await rows();
    const isJson = typeof body === "object" || body.startsWith("{");
    const { status, code, json } = await server.ask(owner, route, { body, headers: isJson ? {} : csv });
    expect([status, code]).toEqual([422, "validation_failed"]);
    expect(json.error?.message).toContain(message);
    expect(await rows()).toEqual(before);
  });

  test("bytes that are no UTF-8", async () => {
    const { json } = await server.ask(owner, route, { body: Buffer.from("name\nn\u00e9", "latin1"), headers: csv });
    expect(json.error?.message).toContain("not valid UTF-8");
  });
});

describe("nobody gives more than they have", () => {
  test.each<[string, object]>([
    ["a higher role", { name: "new", role: "billing" }],
    ["a higher role to themselves", { name: "admin", role: "owner" }],
    ["a budget above the organisation's", { name: "ann", max_budget: 11 }],
    ["a token of a user with more rights", { name: "boss", token: true }],
    ["a limit of a user with more rights", { name: "boss", rpm: 1 }],
  ])("%s", async (_, person) => {
    await createToken(server.deps, { user: "boss", role: "owner", organisation: "acme" });
    await changeHolder(server.deps, { kind: "organisation", name: "acme" }, { maxBudget: 10_000_000_000n });
    const { json } = await server.ask(owner, "get /admin/v1/tokens?user=boss");
    for (const { id } of json["data"] as { id: string }[]) await server.ask(owner, `delete /admin/v1/tokens/${id}`);
    const before = await rows();
    const { status, code, json: refused } = await apply({ people: [{ name: "fine" }, person] }, { token: admin });
    expect([status, code]).toEqual([403, "role_required"]);
    expect(refused.error?.message).toStartWith(`row 2 (${String(Reflect.get(person, "name"))})`);
    expect(await rows()).toEqual(before);
  });

  test("somebody of another organisation looks like nobody, and the own one is the default", async () => {
    // The name is taken, and the refusal says no more than a request for one user does.
    expect((await apply({ people: [{ name: "bea", rpm: 1 }] }, { token: admin })).status).toBe(422);
    expect((await apply({ people: [{ name: "new", organisation: "beta" }] }, { token: admin })).status).toBe(422);
    await applied({ people: [{ name: "new" }] }, { token: admin });
    expect(await userOf("new")).toMatchObject({ organisation: "acme" });
  });

  test("the last owner stays", async () => {
    const { status, code } = await apply({ people: [{ name: "ann" }, { name: "root", disabled: true }] });
    expect([status, code]).toEqual([409, "last_owner"]);
  });
});

test("300 people from one file; one is disabled, one moved and one deleted, and the books balance after", async () => {
  const names = Array.from({ length: 300 }, (_, index) => `p${index}`);
  const { tokens } = await applied(`name,organisation,token\n${names.map((name) => `${name},acme,true`).join("\n")}\n`);
  await server.ask(owner, "post /admin/v1/organisations", { body: { name: "gamma" } });
  const grant = { amount: 500, reason: "the course" };
  for (const organisation of ["acme", "gamma"])
    await server.ask(owner, "post /admin/v1/credits", { body: { organisation, ...grant } });
  const store = openLedgerStore(server.storage);
  const callOf = async (index: number, turn: string): Promise<string> => {
    const { accountId } = await server.principalOf(String(tokens[index]?.token));
    const id = `${turn}-${index}`;
    const at = server.now;
    const call = { operation: "chat", provider: "openai", model: "m", dialect: "chat", streamed: false } as const;
    const [held] = await store.commit([
      { kind: "hold", id, accountId, amount: 1_000_000_000n, at, leaseUntil: at + 60_000, ...call },
    ]);
    await store.commit([{ kind: "settle", id, amount: 1_000_000_000n, at }]);
    return held?.outcome ?? "none";
  };
  const outcomes = new Set<string>();
  for (let index = 0; index < 300; index += 1) outcomes.add(await callOf(index, "first"));
  expect([...outcomes]).toEqual(["held"]);
  const { changed, moved, unchanged } = await applied("name,organisation,disabled\np1,,true\np2,gamma,\np3,acme,\n");
  expect([changed.map(({ name }) => name), moved, unchanged]).toEqual([
    ["p1"],
    [{ name: "p2", from: "acme", to: "gamma" }],
    ["p3"],
  ]);
  expect(await server.ask(owner, "delete /admin/v1/users/p4")).toMatchObject({ status: 200 });
  const refusals = await Promise.all(
    [1, 4].map((index) => callOf(index, "late").catch((thrown: Error) => thrown.message)),
  );
  expect(refusals).toEqual(["The token's user is disabled.", "The token has been revoked."]);
  expect(await callOf(2, "later")).toBe("held");
  const spendOf = async (name: string) =>
    (await server.ask(owner, `get /admin/v1/organisations/${name}`)).json["spend"];
  expect([await spendOf("acme"), await spendOf("gamma")]).toEqual([300, 1]);
  expect(await store.audit()).toMatchObject({ openHolds: 0, drifts: [], shortfall: 0n });
  expect((await server.deps.log.verify()).fault).toBeUndefined();
});

describe("a user is moved", () => {
  test("by an owner alone, from the API and from a file", async () => {
    await createToken(server.deps, { user: "dora", organisation: "acme" });
    const ask = (token: string, organisation: string | null) =>
      server.ask(token, "patch /admin/v1/users/dora", { body: { organisation } });
    const before = await rows();
    // The organisation of now is no move, and needs no right to move.
    expect((await ask(admin, "acme")).status).toBe(200);
    expect(await ask(admin, null)).toMatchObject({ status: 403, code: "role_required" });
    expect(await ask(admin, "beta")).toMatchObject({ status: 404, code: "account_not_found" });
    expect((await apply({ people: [{ name: "dora", organisation: null }] }, { token: admin })).status).toBe(403);
    expect((await apply({ people: [{ name: "dora", organisation: "beta" }] }, { token: admin })).status).toBe(422);
    expect(await rows()).toEqual(before);
    expect((await ask(owner, "beta")).status).toBe(200);
    expect(await userOf("dora")).toMatchObject({ organisation: "beta", organisation_id: "beta" });
  });

  test("not into a disabled organisation, if nobody else is an owner", async () => {
    await server.ask(owner, "patch /admin/v1/organisations/beta", { body: { disabled: true } });
    const body = { organisation: "beta" };
    expect(await server.ask(owner, "patch /admin/v1/users/root", { body })).toMatchObject({
      status: 409,
      code: "last_owner",
    });
    expect((await apply({ people: [{ name: "root", organisation: "beta" }] })).code).toBe("last_owner");
  });

  test("not by a dry run, nor with credits of their own that would be lost", async () => {
    const { json } = await server.ask(owner, "patch /admin/v1/users/ann?dry_run=true", {
      body: { organisation: "beta" },
    });
    expect(json).toMatchObject({ organisation: "beta" });
    expect(await userOf("ann")).toMatchObject({ organisation: "acme" });
    await createToken(server.deps, { user: "rich", credits: 1_000_000_000n });
    expect(await server.ask(owner, "patch /admin/v1/users/rich", { body: { organisation: "beta" } })).toMatchObject({
      status: 409,
      code: "account_conflict",
    });
    expect((await apply({ people: [{ name: "rich", organisation: "beta" }] })).json.error?.message).toContain(
      "row 1 (rich)",
    );
  });
});
