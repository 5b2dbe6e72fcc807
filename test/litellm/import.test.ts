/** From LiteLLM's configuration and database to a gateway that answers its callers' keys. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { parse, stringify } from "yaml";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { engines, storageOn } from "../kit/engines.ts";
import { type Gateway, runCli, startGateway } from "../kit/gateway.ts";
import { startPostgres, type PostgresServer } from "../kit/postgres.ts";
import { findMigrations, insert, migrate } from "./litellm-database.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-litellm-"));
const migrations = await findMigrations();
const variables = { OPENAI_API_KEY: "sk-simulated-upstream-key", SECOND_KEY: "sk-simulated-upstream-key" };
const hashOf = (key: string): string => Bun.SHA256.hash(key, "hex");

let simulators: Simulators;
let postgres: PostgresServer;
let litellm: string;
let input: string;

beforeAll(async () => {
  [simulators, postgres] = await Promise.all([startSimulators(), startPostgres()]);
  input = join(folder, "config.yaml");
  writeFileSync(input, stringify(configuration()));
  if (!("folder" in migrations)) return console.error(`the import of a database is not tested: ${migrations.missing}`);
  litellm = await postgres.createEmptyDatabase();
  const connection = new SQL({ url: litellm, max: 1 });
  expect(await migrate(connection, migrations.folder)).toBeGreaterThan(200);
  await fill(connection);
  await connection.close();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all([simulators.stop(), postgres.stop()]);
});

function configuration() {
  const { openai, anthropic } = simulators.providers;
  const priced = { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 };
  return {
    model_list: [
      {
        model_name: "gpt-4o-mini",
        litellm_params: {
          model: "openai/gpt-4o-mini",
          api_base: openai,
          api_key: "os.environ/OPENAI_API_KEY",
          ...priced,
        },
      },
      {
        model_name: "gpt-4o-mini",
        litellm_params: { model: "openai/gpt-4o", api_base: openai, api_key: "os.environ/SECOND_KEY", ...priced },
      },
      {
        model_name: "haiku",
        litellm_params: { model: "anthropic/claude-haiku-4-5", api_base: anthropic, api_key: "sk-literal", ...priced },
      },
    ],
    litellm_settings: { fallbacks: [{ haiku: ["gpt-4o-mini"] }], num_retries: 1 },
    general_settings: { master_key: "sk-master-1234" },
  };
}

const stamps = { created_by: "admin", updated_by: "admin" };
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19);

async function fill(connection: SQL): Promise<void> {
  const add = (table: string, row: Record<string, unknown>) => insert(connection, `LiteLLM_${table}`, row);
  await add("BudgetTable", { budget_id: "b1", max_budget: 100, budget_duration: "1mo", ...stamps, ...now() });
  const organisation = { organization_id: "o1", organization_alias: "Acme Inc.", budget_id: "b1", metadata: {} };
  await add("OrganizationTable", { ...organisation, models: [], spend: 40, model_spend: {}, ...stamps, ...now() });
  const empty = { admins: [], metadata: {}, model_spend: {}, model_max_budget: {}, ...lists, ...now() };
  await add("TeamTable", {
    team_id: "t1",
    team_alias: "site",
    organization_id: "o1",
    members: ["u1"],
    members_with_roles: [],
    max_budget: 5,
    spend: 4.999999,
    budget_duration: "1d",
    budget_reset_at: inDays(1),
    models: ["haiku", "gpt-4o-mini"],
    blocked: false,
    soft_budget: 3,
    ...empty,
  });
  await add("TeamTable", {
    team_id: "t2",
    team_alias: "closed",
    members: [],
    members_with_roles: [],
    models: [],
    blocked: true,
    spend: 0,
    ...empty,
  });
  const user = {
    models: [],
    metadata: {},
    ...lists,
    teams: ["t1"],
    model_spend: {},
    model_max_budget: {},
    allowed_cache_controls: [],
  };
  await add("UserTable", {
    user_id: "u1",
    user_email: "ann@example.com",
    organization_id: "o1",
    spend: 1,
    user_role: "proxy_admin",
    ...user,
  });
  await add("UserTable", { user_id: "u2", spend: 0, max_budget: 0.000001, ...user, teams: [] });
  const key = {
    spend: 0,
    total_spend: 0,
    models: [],
    aliases: {},
    config: {},
    permissions: {},
    metadata: {},
    ...lists,
  };
  const more = {
    ...key,
    allowed_routes: [],
    allowed_cache_controls: [],
    model_spend: {},
    model_max_budget: {},
    budget_fallbacks: {},
  };
  const addKey = (text: string, row: Record<string, unknown>) =>
    add("VerificationToken", {
      token: hashOf(text),
      key_name: "sk-...abcd",
      soft_budget_cooldown: false,
      ...more,
      ...row,
    });
  await addKey("sk-team", { team_id: "t1", user_id: "u1", key_alias: "deploy" });
  await addKey("sk-user", { user_id: "u1", models: ["haiku"], rpm_limit: 2 });
  await addKey("sk-poor", { user_id: "u2" });
  await addKey("sk-nobody", {});
  await addKey("sk-below", { user_id: "u1", max_budget: -1 });
  await addKey("sk-blocked", { user_id: "u1", blocked: true });
  await addKey("sk-expired", { user_id: "u1", expires: inDays(-1) });
  await addKey("sk-closed", { team_id: "t2" });
  await addKey("sk-management", { user_id: "u1", key_type: "management", allowed_routes: ["management_routes"] });
  await addKey("sk-window", { user_id: "u1", budget_limits: [{ budget_duration: "1d", max_budget: 2 }] });
  await add("BudgetWindowSpend", {
    entity_type: "key",
    entity_id: hashOf("sk-window"),
    window_duration: "1d",
    window_start: inDays(0),
    spend: 2,
    ...now(),
  });
  const old = { active_token_id: hashOf("sk-user"), created_at: inDays(0) };
  await add("DeprecatedVerificationToken", { id: "d1", token: hashOf("sk-user-old"), revoke_at: inDays(1), ...old });
  await add("DeprecatedVerificationToken", { id: "d2", token: hashOf("sk-user-older"), revoke_at: inDays(-1), ...old });
  // Its key was rotated again.
  const older = { ...old, active_token_id: hashOf("sk-user-old") };
  await add("DeprecatedVerificationToken", {
    id: "d3",
    token: hashOf("sk-user-first"),
    revoke_at: inDays(1),
    ...older,
  });
  await add("ProxyModelTable", {
    model_id: "m1",
    model_name: "hidden",
    litellm_params: { api_key: "encrypted" },
    model_info: {},
    blocked: false,
    ...stamps,
    ...now(),
  });
}

const lists = { policies: [], access_group_ids: [], team_member_permissions: [], default_team_member_models: [] };
const now = () => ({ created_at: inDays(0), updated_at: inDays(0) });

const fidelityOf = (findings: readonly { field: string; fidelity: string }[], wanted: string) =>
  findings.find(({ field }) => field === wanted)?.fidelity;

async function takeOver(...args: string[]) {
  const { code, stdout, stderr } = await runCli(["import", "litellm", input, "--json", ...args], variables);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const secret of ["sk-literal", "sk-master-1234", "sk-simulated", hashOf("sk-team")])
    expect(stdout).not.toContain(secret);
  return JSON.parse(stdout) as {
    findings: { field: string; fidelity: string; note: string }[];
    accounts: { created: Record<string, number>; leftOut: unknown[] } | null;
    variables: { name: string }[];
  };
}

async function startWith(written: string, storage: { storage?: string }): Promise<Gateway> {
  const { providers, ...config } = parse(readFileSync(written, "utf8")) as Record<string, Record<string, object>>;
  const given = { ...variables, ANTHROPIC_IMPORTED_KEY_1: "sk-simulated-upstream-key" };
  return startGateway({ providers: providers ?? {}, config, variables: given, ...storage });
}

test("a configuration becomes a new file that the gateway is checked and started with, and never another one", async () => {
  const written = join(folder, "tollgate.yaml");
  const { findings, variables: missing } = await takeOver("--write", written);
  expect(missing).toMatchObject([{ name: "ANTHROPIC_IMPORTED_KEY_1" }]);
  expect(fidelityOf(findings, "general_settings.master_key")).toBe("by hand");
  const checked = await runCli(["config", "check", written], { ...variables, ANTHROPIC_IMPORTED_KEY_1: "x" });
  expect({ code: checked.code, stderr: checked.stderr }).toEqual({ code: 0, stderr: "" });
  writeFileSync(written, "mine");
  const again = await runCli(["import", "litellm", input, "--write", written]);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("exists already");
  expect(readFileSync(written, "utf8")).toBe("mine");
  rmSync(written);
  await takeOver("--write", written, "--dry-run");
  expect(() => readFileSync(written)).toThrow();
});

test.skipIf(!("folder" in migrations)).each([...engines])("keys of a database go on working, on %s", async (engine) => {
  const written = join(folder, `${engine}.yaml`);
  await takeOver("--write", written);
  const gateway = await startWith(written, await storageOn(engine, postgres));
  const into = ["--database", litellm, "--config", gateway.configFile, "--storage", gateway.storageUrl];
  const call = async (key: string, model = "haiku", headers: Record<string, string> = {}): Promise<string> => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify({ model, max_tokens: 16, messages: [{ role: "user", content: "Hello!" }] }),
    });
    const { error } = (await answer.json()) as { error?: { code: string } };
    return error?.code ?? String(answer.status);
  };
  expect(await call("sk-team")).toBe("invalid_token");

  const dry = await takeOver(...into, "--dry-run");
  const { accounts, findings } = await takeOver(...into);
  expect(accounts).toMatchObject({
    created: { organisation: 2, project: 2, user: 3, token: 10, budget: 5 },
    leftOut: [],
  });
  expect(dry.accounts).toEqual(accounts);
  expect(findings.filter(({ note }) => note.includes("not known"))).toEqual([]);
  expect(fidelityOf(findings, "LiteLLM_ProxyModelTable")).toBe("by hand");
  expect(fidelityOf(findings, "LiteLLM_TeamTable.soft_budget")).toBe("by hand");

  // A process that has seen no imported key looks again within a second.
  const began = Date.now();
  let first = await call("sk-user");
  while (first === "invalid_token" && Date.now() - began < 10_000) first = await call("sk-user");
  expect(first).toBe("200");
  const outcomes: Record<string, string> = {};
  for (const key of ["nobody", "blocked", "expired", "closed", "management", "user-old", "user-older", "user-first"])
    outcomes[key] = await call(`sk-${key}`);
  expect(outcomes).toEqual({
    nobody: "200",
    blocked: "token_paused",
    expired: "token_expired",
    closed: "project_disabled",
    management: "token_paused",
    // The second call of two in a minute, with the key before the rotation.
    "user-old": "200",
    "user-older": "invalid_token",
    // The third one.
    "user-first": "rate_limit_exceeded",
  });
  expect(await call("sk-user")).toBe("rate_limit_exceeded");
  expect(await call("sk-user", "gpt-4o-mini")).toBe("model_not_routed");
  // Budgets go on with LiteLLM's spending.
  expect(await call("sk-team")).toBe("insufficient_credits");
  expect(await call("sk-poor")).toBe("insufficient_credits");
  expect(await call("sk-window")).toBe("insufficient_credits");
  expect(await call("sk-below")).toBe("insufficient_credits");
  expect(await call("sk-ant-anything", "haiku", { "x-litellm-api-key": "Bearer sk-nobody" })).toBe("200");

  // LiteLLM's own addresses.
  const get = async (path: string, key?: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const answer = await fetch(gateway.url + path, { headers });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  };
  const own = await get("/key/info", "sk-team");
  expect(own).toMatchObject({ status: 200, json: { info: { max_budget: 5, spend: 4.999999, team_id: "site" } } });
  expect((await get("/key/info?key=sk-user", "sk-user")).json).toMatchObject({
    info: { user_id: "ann@example.com", models: ["haiku"], rpm_limit: 2, blocked: false },
  });
  for (const other of ["sk-team", hashOf("sk-team"), "anything"])
    expect((await get(`/key/info?key=${other}`, "sk-user")).status).toBe(404);
  const models = (await get("/model/info", "sk-user")).json["data"];
  expect(models).toMatchObject([{ model_name: "haiku", model_info: { input_cost_per_token: 0.000001 } }]);
  for (const path of ["/key/info", "/model/info"]) expect((await get(path)).status).toBe(401);
  for (const path of ["/health/liveliness", "/health/readiness"]) expect((await get(path)).status).toBe(200);

  const budgets = await gateway.cli("budget", "list", "--json");
  expect(budgets.stdout).toContain("Acme-Inc.");
  const again = await takeOver(...into);
  expect(Object.values(again.accounts?.created ?? {})).toEqual([0, 0, 0, 0, 0]);
  expect(await openLedgerStore(gateway.storage).audit()).toMatchObject({ drifts: [], shortfall: 0n });
  expect(gateway.log()).not.toContain("sk-user");
  await gateway.stop();
});
