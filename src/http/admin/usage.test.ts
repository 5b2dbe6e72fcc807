/** The spending that operators see, on a storage in memory. `admin.test.ts` has the roles of the route. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { type AccountsDependencies, createToken } from "../../accounts/index.ts";
import type { Role, Usage } from "../../core/index.ts";
import { openGenerationStore } from "../../generations/index.ts";
import { openNodeStore } from "../../nodes/index.ts";
import { BatchDirectory } from "../../batches/index.ts";
import { SessionDirectory } from "../../realtime/index.ts";
import type { Storage } from "../../storage/index.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import { createAccounts } from "../../../test/kit/accounts.ts";
import { insertGeneration, plainGeneration } from "../../../test/kit/generations.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { askRoute } from "../__fixtures__/ask-route.ts";
import { adminUsageRoute } from "./usage.ts";

const credit = 1_000_000_000n;

let storage: Storage;
let deps: AccountsDependencies;

beforeEach(async () => {
  storage = await openStorage("sqlite::memory:");
  deps = createAccounts(storage, { clock: () => 0, randomBytes: (size: number) => randomBytes(size) }, "cli:test");
  await call("member", { organisation: "acme", credits: 3n });
  await call("member", { organisation: "acme", credits: 4n, model: "large" });
  await call("peer", { organisation: "acme", credits: 5n });
  await call("stranger", { organisation: "beta", credits: 6n });
  await call("boss", { credits: 7n });
});
afterEach(() => storage.close());

interface Called {
  organisation?: string;
  credits: bigint;
  model?: string;
  usage?: Usage;
  millisecondsToFirstByte?: number;
}

async function call(user: string, { organisation, credits, model = "small", ...more }: Called): Promise<void> {
  const { id: tokenId } = await createToken(deps, { user, organisation });
  await insertGeneration(storage, {
    id: `req_${user}_${model}`,
    owner: user,
    tokenId,
    ...plainGeneration,
    model,
    credits: credits * credit,
    startedAt: 0,
    ...more,
  });
}

function ask(role: Role, query: string): Promise<unknown> {
  const ticker = { now: () => 0, watch: () => undefined, leave: () => undefined };
  const needs = {
    admin: deps,
    addressOf: () => "192.0.2.7",
    memory: new MemoryBudget(1e6),
    clock: () => 0,
    body: { bytesMax: 1e6, arrivalMsMax: 1e4, ticker },
    nodes: openNodeStore(storage),
    batchDirectory: new BatchDirectory({ storage, log: deps.log, clock: () => Date.now() }),
    sessionDirectory: new SessionDirectory({ storage, log: deps.log, clock: () => Date.now() }),
    generations: openGenerationStore(storage),
    isDraining: () => false,
  };
  const organisation = role === "organisation_admin" ? "acme" : undefined;
  return askRoute(adminUsageRoute, needs, { query, principal: { role, user: "chief", organisation } });
}

const sum = (requests: number, credits: number) => ({
  requests,
  failures: 0,
  list_credits: 0,
  input_tokens: 7 * requests,
  output_tokens: 3 * requests,
  credits,
});

test("an organisation's is by model and week, with names and ids", async () => {
  const acme = { object: "usage", day: "1969-12-29", organisation: "acme", organisation_id: "acme" };
  expect(
    await ask("owner", "?organisation=acme&group_by=day,organisation,model&interval=week&from=1970-01-01"),
  ).toEqual({
    object: "list",
    data: [
      { ...acme, model: "openai/small", ...sum(2, 8) },
      { ...acme, model: "openai/large", ...sum(1, 4) },
    ],
    total: sum(3, 12),
    from: "1970-01-01T00:00:00.000Z",
    to: "1970-01-02T00:00:00.000Z",
    group_by: ["day", "organisation", "model"],
    interval: "week",
  });
});

test("buckets and times to the first token are fields that are asked for", async () => {
  const usage = { input: 2, cacheRead: 4, inputImage: 1, output: 3, images: 5, requests: 1 };
  await call("ann", { credits: 1n, model: "seen", usage, millisecondsToFirstByte: 420 });
  await call("bob", {
    credits: 1n,
    model: "seen",
    usage: { cacheRead: 7, output: 3 },
    millisecondsToFirstByte: 31_000,
  });
  const buckets = { input: 2, cache_read: 11, input_image: 1, output: 6, images: 5, requests: 1 };
  const first = { p50: 500, p95: null, p99: null, count: 2 };
  expect(await ask("owner", "?group_by=model&model=openai/seen&include=first_token_ms,buckets")).toMatchObject({
    data: [{ model: "openai/seen", ...sum(2, 2), buckets, first_token_ms: first }],
    total: { buckets, first_token_ms: first },
  });
  expect(await ask("owner", "?group_by=model&model=openai/none&include=first_token_ms,buckets")).toMatchObject({
    data: [],
    total: { ...sum(0, 0), buckets: {}, first_token_ms: { p50: null, p95: null, p99: null, count: 0 } },
  });
  expect(await ask("owner", "?group_by=model&include=first_token_ms")).not.toHaveProperty("total.buckets");
  expect(Promise.resolve(ask("owner", "?include=all"))).rejects.toMatchObject({ code: "validation_failed" });
});

test("calls that no organisation pays for are a row too", async () => {
  expect(await ask("owner", "?group_by=organisation")).toHaveProperty("data", [
    { object: "usage", organisation: "acme", organisation_id: "acme", ...sum(3, 12) },
    { object: "usage", organisation: null, organisation_id: null, ...sum(1, 7) },
    { object: "usage", organisation: "beta", organisation_id: "beta", ...sum(1, 6) },
  ]);
});

test.each<[Role, string, number]>([
  ["owner", "", 5],
  ["auditor", "&user=stranger", 1],
  ["organisation_admin", "", 3],
  ["organisation_admin", "&user=peer", 1],
  ["organisation_admin", "&organisation=acme", 3],
  ["organisation_admin", "&provider=openai&model=openai/small", 2],
])("%s sees with %p as many calls as %p", async (role, filter, requests) => {
  expect(await ask(role, `?group_by=user${filter}`)).toHaveProperty("total.requests", requests);
});

test.each<[Role, string, string]>([
  ["organisation_admin", "?organisation=beta", "account_not_found"],
  ["organisation_admin", "?user=stranger", "account_not_found"],
  ["owner", "?user=nobody", "account_not_found"],
  ["owner", "?group_by=colour", "validation_failed"],
  ["owner", "?group_by=day,", "validation_failed"],
  ["owner", "?interval=year", "validation_failed"],
  ["owner", "?from=2026-02-01&to=2026-01-01", "validation_failed"],
])("%s is refused %p", async (role, query, code) => {
  const refusal = await ask(role, query).catch((reason: unknown) => reason);
  expect(refusal).toMatchObject({ code });
});
