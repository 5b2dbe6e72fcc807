/** The lists of the admin API for operators, of a gateway that runs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { flatPrice, type Rig, startRig, until } from "../kit/index.ts";

const secret = (name: string): string => `canary-${name}-0123456789abcdefghijklmnop`;
let rig: Rig;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  rig = await startRig({
    providers: () => ({
      own: {
        kind: "openai-compatible",
        base_url: "http://127.0.0.1:9/v1",
        keys: [{ name: "first", secret: secret("key") }],
        aliases: ["mine"],
      },
      keyless: { kind: "xai", base_url: "http://127.0.0.1:9/v1" },
    }),
    config: {
      routing: { routes: { either: { tiers: [[{ model: "own/m" }], [{ model: "openai/gpt-4o-mini" }]] } } },
      alerts: {
        channels: { chat: { kind: "slack", url: `http://127.0.0.1:9/${secret("hook")}` } },
        rules: { circuit: { off: true } },
      },
      otlp: { endpoint: "http://127.0.0.1:9", headers: { authorization: secret("otlp") } },
      mcp: { servers: { one: { url: "http://127.0.0.1:9/mcp", auth: { headers: { "x-key": secret("mcp") } } } } },
      webhooks: { encryption_key: secret("webhooks") },
      pricing: { models: { "own/m": flatPrice, "openai/gpt-4o-mini": flatPrice } },
    },
  });
  for (const role of ["owner", "operator", "auditor"] as const)
    tokens[role] = await rig.gateway.token({ user: role, role, credits: 0n });
});
afterAll(() => rig.stop());

async function ask(role: string, path: string, method = "GET", body?: object) {
  const answer = await fetch(`${rig.gateway.url}/admin/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens[role]}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    json: JSON.parse(text) as Record<string, unknown> & { data: Record<string, unknown>[] },
  };
}

test("none contains a secret, and each is a list", async () => {
  for (const path of [
    "providers",
    "routes",
    "prices",
    "prices/unpriced",
    "jobs",
    "crawls",
    "alerts",
    "nodes",
    "config",
    "audit",
  ])
    for (const role of ["owner", "operator", "auditor"]) {
      if (path === "audit" && role === "operator") continue;
      const { status, text, json } = await ask(role, path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(/canary|sk-/);
      if (path !== "config") expect(json).toMatchObject({ object: "list", has_more: expect.any(Boolean) as boolean });
    }
});

test("they show what is configured and what runs", async () => {
  const { json: providers } = await ask("operator", "providers?limit=500");
  const found = providers.data.find(({ id }) => id === "own");
  expect(found).toMatchObject({ state: "enabled", keys: 1, aliases: ["mine"], base_url: "http://127.0.0.1:9/v1" });
  expect(providers.data.find(({ id }) => id === "keyless")).toMatchObject({ state: "no key", keys: 0 });
  expect((await ask("operator", "routes")).json.data).toMatchObject([
    { object: "route", id: "either", tiers: [[{ model: "own/m" }], [{ model: "openai/gpt-4o-mini" }]] },
  ]);
  const page = await ask("operator", "prices?limit=1&after=openai/gpt-4o-min");
  expect(page.json).toMatchObject({
    has_more: true,
    data: [{ id: "openai/gpt-4o-mini", layer: "config", prices: { input_mtok: 1, output_mtok: 2 } }],
  });
  await until("the node is there", async () => (await ask("operator", "nodes")).json.data.length === 1);
  expect((await ask("operator", "nodes")).json).toMatchObject({ data: [{ object: "node" }], differences: [] });
  expect((await ask("auditor", "config")).json).toMatchObject({
    config: { providers: { own: { keys: [{ name: "first", secret: "***" }] } }, webhooks: { encryption_key: "***" } },
  });
  const { token } = await rig.caller();
  const startCrawl = (by: string) =>
    fetch(`${rig.gateway.url}/v2/crawl`, {
      method: "POST",
      headers: { authorization: `Bearer ${by}` },
      body: JSON.stringify({ url: "http://93.184.215.14/secret-path", limit: 1 }),
    });
  const { id } = (await (await startCrawl(token)).json()) as { id: string };
  const crawls = await ask("operator", "crawls");
  expect(crawls.json.data).toMatchObject([
    { object: "crawl", id, kind: "crawl", user_id: "caller-1", project_id: null },
  ]);
  expect(crawls.text).not.toContain("secret-path");
  // Those of a project are the project's, by whose id their calls are listed.
  await ask("owner", "projects", "POST", { name: "site" });
  await ask("owner", "credits", "POST", { project: "site", amount: 5, reason: "test" });
  const { json: made } = await ask("owner", "tokens", "POST", { project: "site" });
  const { id: ofProject } = (await (await startCrawl(String(made["token"]))).json()) as { id: string };
  const { data } = (await ask("operator", "crawls")).json;
  const shown = data.find((each) => each["id"] === ofProject);
  expect(shown).toMatchObject({ user_id: null, project_id: "site" });
  const calls = `generations?parent_id=${ofProject}&project=${String(shown?.["project_id"])}`;
  expect((await ask("owner", calls)).status).toBe(200);
});

test("a route is explained for a token and for anybody", async () => {
  const { json } = await ask("operator", "routes/explain?model=either&input_tokens=1000&output_tokens=0");
  expect(json).toMatchObject({
    object: "route_explanation",
    route: "either",
    available: null,
    targets: [{ model: "own/m" }, { model: "openai/gpt-4o-mini", tier: 2, asked: true, cost: 0.001 }],
  });
  const { json: listed } = await ask("owner", "tokens");
  const { id } = listed.data.find(({ user }) => user === "auditor") ?? {};
  const { json: own } = await ask("owner", `routes/explain?model=openai/gpt-4o-mini&token=${String(id)}`);
  expect(own).toMatchObject({ route: null, available: 0, targets: [{ asked: false, why: "unaffordable" }] });
  // Budgets beside the chain count: for all models, and for those of a group.
  const { id: ownerId } = listed.data.find(({ user }) => user === "owner") ?? {};
  await ask("owner", "model_groups", "POST", { name: "minis", models: ["openai/*-mini"] });
  const left = async () => {
    const { json: found } = await ask("owner", `routes/explain?model=either&token=${String(ownerId)}`);
    const targets = found["targets"] as { model: string; available: number; why: string | null }[];
    return [found["available"], ...targets.map(({ available, why }) => [available, why])];
  };
  expect(await left()).toEqual([0, [0, "unaffordable"], [0, "unaffordable"]]);
  await ask("owner", "credits", "POST", { user: "owner", amount: 5, reason: "test" });
  expect(await left()).toEqual([5, [5, null], [5, null]]);
  await ask("owner", "budgets", "POST", { user: "owner", max_budget: 0, models: "minis" });
  expect(await left()).toEqual([5, [5, null], [0, "unaffordable"]]);
  await ask("owner", "budgets", "POST", { user: "owner", max_budget: 1 });
  expect(await left()).toEqual([1, [1, null], [0, "unaffordable"]]);
  // Operators see nobody's tokens.
  expect((await ask("operator", `routes/explain?model=either&token=${String(id)}`)).status).toBe(404);
  expect((await ask("operator", "routes/explain?model=none/x")).status).toBe(404);
  expect((await ask("owner", "routes/explain?model=either&token=nobody")).status).toBe(404);
  expect((await ask("operator", "routes/explain?model=either&operation=other")).status).toBe(422);
});

test("an operator disables a provider, and enables it again, over HTTP", async () => {
  const caller = await rig.caller();
  const code = async (): Promise<string | undefined> => {
    const answer = await caller.chat({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "hi" }] });
    return ((await answer.json()) as { error?: { code: string } }).error?.code;
  };
  const change = { disabled: true, for: 600, reason: "it is slow" };
  const tried = await ask("operator", "providers/openai?dry_run=true", "PATCH", change);
  expect(tried.json).toMatchObject({ state: "disabled" });
  expect((await ask("operator", "providers/openai", "PATCH", { ...change, model: "o3" })).json).toMatchObject({
    state: "enabled",
    disabled: [{ target: "openai/o3", reason: "it is slow" }],
  });
  expect(await code()).toBeUndefined();
  expect((await ask("operator", "providers/openai", "PATCH", change)).json).toMatchObject({ state: "disabled" });
  await until("its calls are refused", async () => (await code()) === "provider_disabled");
  await ask("owner", "providers/openai", "PATCH", { disabled: false });
  await until("it is called again", async () => (await code()) === undefined);
  expect((await ask("auditor", "providers/openai", "PATCH", change)).status).toBe(403);
  const { json } = await ask("auditor", "audit?limit=3");
  expect(json.data.map(({ act, target }) => [act, target])).toEqual([
    ["target.enable", "target:openai"],
    ["target.disable", "target:openai"],
    ["target.disable", "target:openai/o3"],
  ]);
});
