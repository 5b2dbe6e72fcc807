/** The calls that operators see, on a storage in memory. `test/contract/generations` compares the lists with the calls. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { addHolder, changeHolder, createToken } from "../../../accounts/index.ts";
import { openTokenStore } from "../../../auth/index.ts";
import { firstRequestIdAt } from "../../../core/index.ts";
import type { Generation } from "../../../generations/index.ts";
import { insertGeneration, plainGeneration } from "../../../../test/kit/generations.ts";
import { AdminServer } from "../__fixtures__/admin-server.ts";

let server: AdminServer;
let tokens: Map<string, { id: string; token: string }>;
let written: string[];

beforeEach(async () => {
  server = await AdminServer.open();
  tokens = new Map();
  written = [];
  for (const [user, role, organisation] of [
    ["chief", "owner", undefined],
    ["auditor", "auditor", undefined],
    ["admin", "organisation_admin", "acme"],
    ["ann", "member", "acme"],
    ["bob", "member", "beta"],
    ["eve", "member", undefined],
  ] as const)
    tokens.set(user, await createToken(server.deps, { user, role, organisation }));
});
afterEach(() => server.close());

async function call(user: string, more: Partial<Generation> = {}): Promise<string> {
  const startedAt = server.now - 60_000 + written.length * 1_000;
  const id = firstRequestIdAt(startedAt).slice(0, -1) + "1";
  written.push(id);
  await insertGeneration(server.storage, {
    id,
    owner: user,
    tokenId: tokens.get(user)?.id ?? "",
    ...plainGeneration,
    model: "small",
    startedAt,
    ...more,
  });
  return id;
}

const fetchAs = (user: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
  server.fetch(`/admin/v1/generations${path}`, { authorization: `Bearer ${tokens.get(user)?.token}`, ...headers });

interface Listed {
  data: { id: string; user: string; organisation: string | null }[];
}

async function idsFor(user: string, query = ""): Promise<string[] | number> {
  const answer = await fetchAs(user, query);
  return answer.ok ? ((await answer.json()) as Listed).data.map(({ id }) => id) : answer.status;
}

test("a call whose parts were paid one by one is shown with their sum, and not with that of another's parts", async () => {
  const nothing = { inputTokens: 0, outputTokens: 0, credits: 0n, usage: {}, dialect: "chat" } as const;
  const whole = await call("ann", nothing);
  const part = {
    inputTokens: 9,
    outputTokens: 1,
    credits: 500_000_000n,
    usage: { input: 9, output: 1 },
    parent: whole,
  };
  await call("ann", part);
  await call("ann", part);
  await call("bob", part);
  for (const reader of ["chief", "admin"]) {
    const shown = await fetchAs(reader, `/${whole}`);
    expect(await shown.json()).toMatchObject({
      user: "ann",
      credits: 1,
      input_tokens: 18,
      usage: { input: 18, output: 2 },
    });
  }
});

test("a list has everybody's calls from the newest, with their users and organisations", async () => {
  const [first, second, third] = [await call("ann"), await call("bob", { outcome: "failed" }), await call("eve")];
  const list = await (await fetchAs("auditor", "")).json();
  expect(list).toMatchObject({
    object: "list",
    data: [
      { id: third, user: "eve", organisation: null, organisation_id: null },
      { id: second, user: "bob", organisation: "beta", outcome: "failed" },
      { id: first, user: "ann", organisation: "acme", list_credits: null },
    ],
    has_more: false,
    unrecorded_statuses: [401, 402, 404, 422, 429],
  });
  expect(await idsFor("chief", "?status=failed")).toEqual([second]);
  expect(await idsFor("chief", "?user=ann&from=1970-01-01")).toEqual([first]);
  expect(await idsFor("chief", "?organisation=beta")).toEqual([second]);
  expect(await idsFor("chief", "?organisation=nobody")).toBe(404);
  expect(await idsFor("chief", "?session=a%00b")).toBe(422);
  expect(await idsFor("chief", "?status=broken")).toBe(422);
});

test("an organisation's admin has the calls of the organisation alone, whichever way they ask", async () => {
  const own = await call("ann");
  const other = await call("bob", { upstreamRequestId: "theirs", clientRequestId: "mine", outcome: "failed" });
  expect(await idsFor("admin")).toEqual([own]);
  expect(await idsFor("admin", "?organisation=beta")).toBe(404);
  expect(await idsFor("admin", "?user=bob")).toBe(404);
  expect(await idsFor("admin", `?token=${tokens.get("bob")?.id}`)).toEqual([]);
  expect((await fetchAs("admin", `/${own}`)).status).toBe(200);
  for (const id of [other, "theirs", "mine"]) {
    expect((await fetchAs("admin", `/${id}`)).status).toBe(404);
    expect(await (await fetchAs("chief", `/${id}`)).json()).toMatchObject({ id: other, user: "bob" });
  }
  const csv = await (await fetchAs("admin", "?format=csv")).text();
  expect(csv).not.toContain(other);
  expect(await idsFor("ann")).toBe(403);
});

test("a series is that of one user in the caller's reach, from the oldest, in pages", async () => {
  const parent = await call("ann");
  const parts = [await call("ann", { parent }), await call("ann", { parent })];
  await call("bob", { parent });
  const series = `?parent_id=${parent}&user=ann`;
  for (const user of ["chief", "auditor", "admin"]) expect(await idsFor(user, series)).toEqual(parts);
  const first = (await (await fetchAs("chief", `${series}&limit=1`)).json()) as Listed & { next_cursor: string };
  expect(first.data).toMatchObject([{ id: parts[0], user: "ann", organisation: "acme" }]);
  expect(await idsFor("chief", `${series}&after=${first.next_cursor}`)).toEqual([parts[1] ?? ""]);
  expect(await idsFor("admin", `?parent_id=${parent}&user=bob`)).toBe(404);
  expect(await idsFor("ann", series)).toBe(403);
  expect(await idsFor("chief", `?parent_id=${parent}`)).toBe(422);
  expect(await idsFor("chief", `${series}&status=ok`)).toBe(422);
  expect(await idsFor("chief", "?parent_id=x&user=ann")).toBe(422);
});

test("a series of somebody who has moved is seen by the organisation that has paid for it, and by no other", async () => {
  const parent = await call("ann");
  const before = await call("ann", { parent });
  await addHolder(server.deps, { kind: "organisation", name: "gamma" });
  await changeHolder(server.deps, { kind: "user", name: "ann" }, { organisation: "gamma" });
  tokens.set(
    "next",
    await createToken(server.deps, { user: "next", role: "organisation_admin", organisation: "gamma" }),
  );
  const { accountId } = (await openTokenStore(server.storage).findById(tokens.get("ann")?.id ?? "")) ?? {};
  expect(accountId).not.toBe(`token:${tokens.get("ann")?.id}`);
  const after = await call("ann", { parent, accountId: accountId ?? "" });
  const series = `?parent_id=${parent}&user=ann`;
  expect(await idsFor("next", series)).toEqual([after]);
  expect(await idsFor("next", "?user=ann")).toEqual([after]);
  expect(await idsFor("admin", series)).toBe(404);
  expect(await idsFor("chief", series)).toEqual([before, after]);
});

test("an id that nobody has is refused with the time of the search", async () => {
  await call("ann");
  for (const id of ["req_0000000000000000000000000", "unknown", "%00", "%F0%9F%99%82"]) {
    const answer = await fetchAs("chief", `/${id}`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("401, 402, 404, 422, 429");
  }
});

test("CSV has a line for each call, and no formula", async () => {
  await call("ann", { session: "=1+1", endUser: '@cmd|"a"', streamed: true });
  await call("bob", { session: "plain, with a comma" });
  const answer = await fetchAs("chief", "?format=csv");
  expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const rows = parse<Record<string, string>>(await answer.text(), { columns: true });
  expect(rows).toMatchObject([
    { user: "bob", session: "plain, with a comma", organisation: "beta" },
    {
      user: "ann",
      session: "'=1+1",
      end_user: `'@cmd|"a"`,
      streamed: "true",
      credits: "0.000000010",
    },
  ]);
  expect(rows).toHaveLength(2);
  const none = await (await fetchAs("chief", "?format=csv&user=eve")).text();
  expect(none.trim().split("\n")).toHaveLength(1);
});

test("events have the calls that end from then on, until the client leaves", async () => {
  await call("ann");
  const leaving = new AbortController();
  const path = "/admin/v1/generations?organisation=acme";
  const headers = { authorization: `Bearer ${tokens.get("admin")?.token}`, accept: "text/event-stream" };
  const answer = await server.fetch(path, headers, leaving.signal);
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  await call("bob");
  const id = await call("ann", { outcome: "failed" });
  let text = "";
  const decoder = new TextDecoder();
  const reader = (answer.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  while (!text.includes("event:")) text += decoder.decode((await reader.read()).value);
  const [, data = ""] = /^event: generation\ndata: (.*)\n\n$/m.exec(text) ?? [];
  expect(JSON.parse(data)).toMatchObject({ id, user: "ann", organisation: "acme", outcome: "failed" });
  leaving.abort();
});

test("events end with their caller's token, and a user has two streams", async () => {
  const made = tokens.get("auditor");
  const headers = { authorization: `Bearer ${made?.token}`, accept: "text/event-stream" };
  const open = () => server.fetch("/admin/v1/generations", headers);
  const [one, other, third] = [await open(), await open(), await open()];
  expect([one.status, other.status, third.status]).toEqual([200, 200, 429]);
  const revoked = await server.ask(tokens.get("chief")?.token ?? "", `delete /admin/v1/tokens/${made?.id}`);
  expect(revoked.status).toBe(200);
  server.now += 1_000;
  expect(await Promise.all([one.text(), other.text()])).toEqual([": calls from now on\n\n", ": calls from now on\n\n"]);
});
