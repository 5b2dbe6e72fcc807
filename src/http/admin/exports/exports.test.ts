/** Exports by the admin API, on a storage in memory. `test/reports/focus.test.ts` has the columns of FOCUS as its validator sees them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { createToken } from "../../../accounts/index.ts";
import type { Generation } from "../../../generations/index.ts";
import { insertGeneration, plainGeneration } from "../../../../test/kit/generations.ts";
import { AdminServer } from "../__fixtures__/admin-server.ts";

let server: AdminServer;
let tokens: Map<string, { id: string; token: string }>;
let number: number;

beforeEach(async () => {
  server = await AdminServer.open();
  tokens = new Map();
  number = 0;
  for (const [user, role, organisation] of [
    ["chief", "owner", undefined],
    ["auditor", "auditor", undefined],
    ["payer", "billing", undefined],
    ["driver", "operator", undefined],
    ["admin", "organisation_admin", "acme"],
    ["ann", "member", "acme"],
    ["bob", "member", "beta"],
  ] as const)
    tokens.set(user, await createToken(server.deps, { user, role, organisation }));
});
afterEach(() => server.close());

async function call(user: string, more: Partial<Generation> = {}): Promise<void> {
  number += 1;
  await insertGeneration(server.storage, {
    id: `req_${String(number).padStart(25, "0")}`,
    owner: user,
    tokenId: tokens.get(user)?.id ?? "",
    ...plainGeneration,
    model: "small",
    credits: 1_000_000_000n,
    startedAt: number,
    ...more,
  });
}

const fetchAs = (user: string, query: string, signal?: AbortSignal): Promise<Response> =>
  server.fetch(`/admin/v1/exports?${query}`, { authorization: `Bearer ${tokens.get(user)?.token}` }, signal);

type Row = Record<string, string>;

const csvFor = async (user: string, query: string): Promise<Row[]> =>
  parse<Row>(await (await fetchAs(user, `from=0&${query}`)).text(), { columns: true });

async function linesFor(user: string, query: string): Promise<Record<string, unknown>[]> {
  const answer = await fetchAs(user, `from=0&format=jsonl&${query}`);
  expect(answer.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
  const text = await answer.text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("usage has the sums of each day, token, model and operation", async () => {
  await call("ann");
  await call("ann", { model: "large", outcome: "failed" });
  await call("ann");
  await call("bob", { startedAt: 86_400_000, listCredits: 5_000_000_000 });
  const rows = await csvFor("chief", "what=usage&to=1970-01-03");
  expect(rows).toHaveLength(3);
  expect(rows).toContainEqual({
    day: "1970-01-01",
    organisation: "acme",
    organisation_id: "acme",
    project: "",
    project_id: "",
    user: "ann",
    user_id: "ann",
    token_id: tokens.get("ann")?.id ?? "",
    provider: "openai",
    model: "openai/small",
    operation: "chat",
    requests: "2",
    failures: "0",
    input_tokens: "14",
    output_tokens: "6",
    credits: "2",
    list_credits: "0",
    buckets: '{"input":14,"output":6}',
  });
  const lines = await linesFor("chief", "what=usage&organisation=beta&to=1970-01-03");
  expect(lines).toMatchObject([{ object: "usage", day: "1970-01-02", user: "bob", credits: 1, list_credits: 5 }]);
  expect(await csvFor("chief", "what=usage&to=1970-01-01T00:00:00.002Z")).toMatchObject([{ requests: "1" }]);
});

test("generations, entries and the audit log are those of the lists", async () => {
  await call("ann", { session: "=HYPERLINK(1)" });
  await server.ask(tokens.get("chief")?.token ?? "", "post /admin/v1/credits", {
    body: { organisation: "acme", amount: 5, reason: "+1 & more" },
  });
  expect(await csvFor("auditor", "what=generations")).toMatchObject([
    { user: "ann", organisation: "acme", session: "'=HYPERLINK(1)", credits: "1" },
  ]);
  const [grant, charge, ...others] = await csvFor("auditor", "what=entries");
  expect([grant?.["kind"], grant?.["organisation"], grant?.["amount"], grant?.["reason"]]).toEqual([
    "grant",
    "acme",
    "5",
    "'+1 & more",
  ]);
  expect(charge).toMatchObject({ kind: "settle", user: "ann", amount: "1", budgets: "", credit_account: "revenue" });
  expect(others).toEqual([]);
  const audit = await linesFor("auditor", "what=audit");
  const list = await server.ask(tokens.get("auditor")?.token ?? "", "get /admin/v1/audit?limit=500");
  expect(audit).toEqual(list.json["data"] as never);
  expect(await csvFor("auditor", "what=audit&to=1970-01-01")).toEqual([]);
});

test("without rows there is the line of names alone", async () => {
  for (const what of ["usage", "generations", "entries", "audit"]) {
    const text = await (await fetchAs("chief", `what=${what}&from=1999-01-01&to=1999-01-02`)).text();
    expect(text.trim().split("\n")).toHaveLength(1);
    expect(text.split(",").length).toBeGreaterThan(10);
    expect(
      await linesFor("chief", `what=${what}&from=1999-01-01&to=1999-01-02`.replace("from=1999-01-01&", "")),
    ).toBeArray();
  }
});

test("each role exports what it may read", async () => {
  await call("ann");
  await call("bob");
  for (const what of ["usage", "generations"]) {
    for (const user of ["chief", "auditor", "payer"]) expect(await csvFor(user, `what=${what}`)).toHaveLength(2);
    expect(await csvFor("admin", `what=${what}`)).toMatchObject([{ user: "ann", organisation: "acme" }]);
    expect((await fetchAs("admin", `what=${what}&organisation=beta`)).status).toBe(404);
    expect((await fetchAs("admin", `what=${what}&user=bob`)).status).toBe(404);
  }
  const statusOf = async (user: string, query: string) => (await fetchAs(user, query)).status;
  for (const user of ["driver", "ann"])
    for (const what of ["usage", "generations", "entries", "audit"])
      expect(await statusOf(user, `what=${what}`)).toBe(403);
  for (const user of ["payer", "admin"]) expect(await statusOf(user, "what=audit")).toBe(403);
  expect(await statusOf("admin", "what=entries&user=bob")).toBe(404);
  for (const query of [
    "what=",
    "what=all",
    "what=audit&user=ann",
    "what=entries&format=focus",
    "what=entries&user=ann&token=x",
    "what=usage&from=2&to=1",
  ])
    expect(await statusOf("chief", query)).toBe(422);
});

test("entries of an organisation's admin name nobody who granted", async () => {
  for (const organisation of ["acme", "beta"])
    await server.ask(tokens.get("chief")?.token ?? "", "post /admin/v1/credits", {
      body: { organisation, amount: 5, reason: "a matter" },
    });
  expect(await csvFor("admin", "what=entries")).toMatchObject([{ organisation: "acme", actor: "", reason: "" }]);
});

/** An export of so many calls whose client has taken its head alone. */
async function begin(user: string, calls: number, signal?: AbortSignal) {
  for (let count = 0; count < calls; count += 1) await call("ann");
  const answer = await fetchAs(user, "what=generations&from=0", signal);
  return (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
}

async function readAll(reader: Awaited<ReturnType<typeof begin>>): Promise<string> {
  let text = "";
  for (const decoder = new TextDecoder(); ;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}

test("an export ends with its caller's rights, and does not look whole", async () => {
  const reader = await begin("auditor", 2_500);
  expect((await reader.read()).done).toBe(false);
  const revoked = await server.ask(
    tokens.get("chief")?.token ?? "",
    `delete /admin/v1/tokens/${tokens.get("auditor")?.id}`,
  );
  expect(revoked.status).toBe(200);
  server.now += 10_000;
  expect(readAll(reader)).rejects.toBeDefined();
});

test("a user has two exports at a time; one that is left makes room", async () => {
  const leaving = new AbortController();
  const first = await begin("auditor", 1_500, leaving.signal);
  const second = await begin("auditor", 0);
  const third = await fetchAs("auditor", "what=usage&from=0");
  expect([third.status, await third.json()]).toMatchObject([429, { error: { code: "rate_limit_exceeded" } }]);
  expect((await fetchAs("payer", "what=usage&from=0")).status).toBe(200);
  await first.cancel();
  expect((await fetchAs("auditor", "what=usage&from=0")).status).toBe(200);
  leaving.abort();
  await readAll(second);
});
