/** Every command, as a person types it, while a server runs on the same storage. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import {
  chatModels,
  codeOf,
  command,
  type Created,
  EventReader,
  operatorOf,
  query,
  type Rig,
  root,
  startRig,
  until,
} from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const { cli, run, runJson, chat, info } = operatorOf(() => rig.gateway);

describe("token", () => {
  test.concurrent("create prints a token that works at once, and JSON where asked for", async () => {
    const created = await runJson<Created>("token", "create", "--user", "anna", "--credits", "2.5");
    expect(created.token).toMatch(/^tg_[\w-]{40,}$/);
    expect(created).toMatchObject({ object: "token", id: created.token.split("_")[1], user: "anna", spend: 0 });
    const answer = await chat(created.token);
    expect(answer.status).toBe(200);
    await answer.text();
    const shown = await until("the cost", async () => {
      const now = await info(created.token);
      return now["held"] === 0 && now["spend"] !== 0 && now;
    });
    expect(shown).toMatchObject({ user: "anna", spend: 0.000025, balance: 2.499975 });

    const { code, stdout, stderr } = await cli("token", "create", "--user", "anna");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^tg_[\w-]{40,}\n$/);
    expect(stderr).toMatch(/^It is shown only now\. Token \w+ of anna\.\n$/);
  });

  test.concurrent("list shows every token and no secret", async () => {
    const { token, id } = await runJson<Created>(
      "token",
      "create",
      "--user",
      "lister",
      "--models",
      "openai/*,xai/grok-4",
      "--rpm",
      "60",
      "--tpm",
      "5000",
      "--concurrency",
      "4",
    );
    const listed = await runJson<{ data: Record<string, unknown>[] }>("token", "list");
    expect(listed.data.find((row) => row["id"] === id)).toMatchObject({
      object: "token",
      user: "lister",
      user_id: "lister",
      service: false,
      role: null,
      expires_at: null,
      revoked_at: null,
      models: ["openai/*", "xai/grok-4"],
      rpm: 60,
      tpm: 5000,
      concurrency: 4,
    });
    expect(await runJson<object>("token", "list", "--user", "lister")).toMatchObject({
      data: [{ id }],
      has_more: false,
    });
    const { limits } = await info(token);
    expect(limits).toEqual({
      requests_per_minute: 60,
      tokens_per_minute: 5000,
      concurrent_calls: 4,
      models: ["openai/*", "xai/grok-4"],
      models_within: [],
      tools: null,
      tools_within: [],
      expires_at: null,
    });
    const table = await run("token", "list");
    expect(table).toMatch(new RegExp(`^${id}\\s+lister\\s+user\\s+active\\s+openai/\\*,xai/grok-4$`, "m"));
    const secret = token.split("_").slice(2).join("_");
    expect(secret.length).toBeGreaterThan(30);
    expect(table + JSON.stringify(listed)).not.toContain(secret);
  });

  test.concurrent("revoke takes effect on the running server", async () => {
    const { token, id } = await runJson<Created>("token", "create", "--user", "leaver", "--credits", "1");
    expect(await codeOf(await chat(token))).toBe("status 200");
    expect(await runJson<object>("token", "revoke", id)).toMatchObject({
      id,
      revoked_at: expect.any(String) as string,
    });
    await until("the token is refused", async () => (await codeOf(await chat(token))) === "token_revoked");
    expect(await run("token", "list", "--user", "leaver")).toMatch(/^\w+ +leaver +user +revoked/m);
    expect(await cli("token", "revoke", "nobody")).toEqual({
      code: 1,
      stdout: "",
      stderr: "tollgate: there is no token nobody\n",
    });
  });

  test.concurrent("--expires: it works until then", async () => {
    const { token, id } = await runJson<Created>(
      "token",
      "create",
      "--user",
      "guest",
      "--credits",
      "1",
      "--expires",
      "8s",
    );
    expect(await codeOf(await chat(token))).toBe("status 200");
    await until("the token is refused", async () => (await codeOf(await chat(token))) === "token_expired", 30_000);
    expect(await run("token", "show", id)).toMatch(/^\w+ +guest +user +expired/m);
  });

  test.concurrent("--models: others do not exist for it", async () => {
    const { token } = await runJson<Created>(
      "token",
      "create",
      "--user",
      "narrow",
      "--credits",
      "1",
      "--models",
      "openai/gpt-4o*",
    );
    expect(await codeOf(await chat(token))).toBe("status 200");
    expect(await codeOf(await chat(token, { model: "openai/o3" }))).toBe("model_not_routed");
    expect(await codeOf(await chat(token, { model: "xai/grok-4" }))).toBe("model_not_routed");
    const answer = await fetch(`${rig.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
    const { data } = (await answer.json()) as { data: { id: string }[] };
    expect(data.length).toBeGreaterThan(0);
    expect(data.filter(({ id }) => !id.startsWith("openai/gpt-4o"))).toEqual([]);
  });

  test.concurrent("--max-budget is the token's own limit, --service has none", async () => {
    const tight = await runJson<Created>(
      "token",
      "create",
      "--user",
      "rich",
      "--credits",
      "100",
      "--max-budget",
      "0.001",
      "--period",
      "daily",
    );
    expect(await codeOf(await chat(tight.token, { messages: [{ role: "user", content: "x".repeat(10_000) }] }))).toBe(
      "insufficient_credits",
    );
    expect(await codeOf(await chat(tight.token, { max_tokens: 10 }))).toBe("status 200");
    expect(await info(tight.token)).toMatchObject({ max_budget: 0.001, period: "daily", service_bypass: false });
    const service = await runJson<Created>("token", "create", "--user", "robot", "--service");
    expect(await codeOf(await chat(service.token))).toBe("status 200");
    expect(await info(service.token)).toMatchObject({ service_bypass: true });
  });

  test.concurrent.each([
    [["token", "create", "--user", "a b"], "--user: letters, digits and . _ @ + - only, at most 128"],
    [["token", "create", "--user", "x", "--credits", "-1"], "--credits: must not be negative"],
    [
      ["token", "create", "--user", "x", "--expires", "soon"],
      '--expires: "soon" is no duration: write 30d, 12h, 15m or 30s',
    ],
    [["credits", "grant", "--user", "x", "--amount", "0"], "--amount: must not be zero"],
    [["credits", "grant", "--user", "x", "--amount", "-1"], "--reason: name one to take credits back"],
    [["credits", "refund", "req_x", "--reason", " "], "--reason: 1 to 500 characters"],
  ])("%p is refused in one line", async (args, line) => {
    expect(await cli(...args)).toEqual({ code: 1, stdout: "", stderr: `tollgate: ${line}\n` });
  });
});

test.concurrent("credits grant: the next call can spend them", async () => {
  const { token } = await runJson<Created>("token", "create", "--user", "poor");
  expect(await codeOf(await chat(token))).toBe("insufficient_credits");
  expect(await runJson<object>("credits", "grant", "--user", "poor", "--amount", "0.5")).toEqual({
    user: "poor",
    granted: 0.5,
    balance: 0.5,
  });
  expect(await codeOf(await chat(token))).toBe("status 200");
  expect(await run("credits", "grant", "--user", "newcomer", "--amount", "3")).toBe(
    "Granted 3 credits to newcomer; the balance is 3.\n",
  );
});

test.concurrent("credits grant --amount -X takes back what is neither spent nor held, and nothing else", async () => {
  await run("credits", "grant", "--user", "overpaid", "--amount", "3", "--reason", "typed twice");
  const take = (amount: string) => [
    "credits",
    "grant",
    "--user",
    "overpaid",
    "--amount",
    amount,
    "--reason",
    "typed twice",
  ];
  expect(await cli(...take("-3.5"))).toEqual({
    code: 1,
    stdout: "",
    stderr: "tollgate: user overpaid has only 3 credits that are neither spent nor held; nothing was taken back\n",
  });
  expect(await run(...take("-1"))).toBe("Took 1 credits back from overpaid; the balance is 2.\n");
  expect(await runJson<object>(...take("-2"))).toEqual({ user: "overpaid", granted: -2, balance: 0 });
  const nobody = ["credits", "grant", "--user", "nobody-yet", "--amount", "-1", "--reason", "none"];
  expect((await cli(...nobody)).stderr).toBe("tollgate: there is no user nobody-yet\n");
  const entries = await query<{ actor: string; reason: string }>(
    rig.gateway.storage,
    "SELECT actor, reason FROM entries WHERE debit_account = 'user:overpaid' OR credit_account = 'user:overpaid'",
  );
  expect(entries).toHaveLength(3);
  const actor = `cli:${userInfo().username}`;
  expect(entries.filter((entry) => entry.actor !== actor || entry.reason !== "typed twice")).toEqual([]);
});

test.concurrent("credits refund gives the charge of a call back, once", async () => {
  const created = await runJson<Created>("token", "create", "--user", "unlucky", "--credits", "1", "--max-budget", "1");
  const answer = await chat(created.token);
  const id = answer.headers.get("x-request-id") ?? "";
  await answer.text();
  const headers = { authorization: `Bearer ${created.token}` };
  const generation = async () =>
    (await (await fetch(`${rig.gateway.url}/v1/generations/${id}`, { headers })).json()) as {
      credits: number;
      list_credits: number;
    };
  const { credits, list_credits: list } = await generation();
  expect(credits).toBeGreaterThan(0);
  expect(list).toBe(credits);
  const refund = ["credits", "refund", id, "--reason", "an outage"];
  expect(await runJson<object>(...refund)).toEqual({ request_id: id, refunded: credits });
  expect(await cli(...refund)).toEqual({ code: 1, stdout: "", stderr: `tollgate: ${id} was refunded before\n` });
  expect(await generation()).toMatchObject({ credits: 0, list_credits: list, refunded_credits: credits });
  expect(await info(created.token)).toMatchObject({ spend: 0, available: 1, balance: 1 });
  const used = (await (await fetch(`${rig.gateway.url}/v1/usage`, { headers })).json()) as { total: object };
  expect(used.total).toMatchObject({ requests: 1, credits: 0 });
  expect((await cli("credits", "refund", "req_unknown", "--reason", "none")).stderr).toBe(
    "tollgate: req_unknown is no call of the books; entries that were removed can't be refunded\n",
  );
});

describe("ledger", () => {
  test("holds shows a call under way, and nothing once it has ended", async () => {
    const caller = await rig.caller();
    const answer = await caller.chat({
      model: "xai/grok-4+stall-3",
      messages: [{ role: "user", content: "words:9" }],
      stream: true,
    });
    const reader = new EventReader(answer);
    await reader.next();
    const [hold, ...others] = await runJson<Record<string, unknown>[]>("ledger", "holds");
    expect(others).toEqual([]);
    expect(hold).toMatchObject({
      id: answer.headers.get("x-request-id"),
      description: "chat xai/grok-4+stall-3",
      keeper: "process",
      alive: true,
    });
    expect(hold?.["amount"]).toBeGreaterThan(0);
    expect(await run("ledger", "holds")).toMatch(/^req_\w+ .* chat xai\/grok-4\+stall-3 .* alive$/m);
    await reader.cancel();
    await caller.closed();
    expect(await runJson<object[]>("ledger", "holds")).toEqual([]);
    expect(await run("ledger", "holds")).toBe("No hold is open.\n");
  });

  test("audit balances, and exits with 1 on any drift", async () => {
    expect(await runJson<object>("ledger", "audit")).toMatchObject({
      ok: true,
      open_holds: 0,
      shortfall: 0,
      drifts: [],
    });
    expect(await run("ledger", "audit")).toEndWith("The books balance.\n");

    const { storage } = rig.gateway;
    if (storage.engine !== "sqlite") throw new Error("the gateway of this test runs on SQLite");
    const caller = await rig.caller();
    const id = `user:${caller.user}`;
    const { changes } = storage.handle.run("UPDATE accounts SET credits_posted = credits_posted + 5 WHERE id = ?", [
      id,
    ]);
    expect(changes).toBe(1);
    const drifted = await cli("ledger", "audit", "--json");
    storage.handle.run("UPDATE accounts SET credits_posted = credits_posted - 5 WHERE id = ?", [id]);
    expect(drifted.code).toBe(1);
    const report = JSON.parse(drifted.stdout) as {
      ok: boolean;
      drifts: { account: string; counter: string; recorded: number; recomputed: number }[];
    };
    expect(report.ok).toBe(false);
    expect(report.drifts).toMatchObject([
      { account: id, counter: "credits_posted", recorded: 1000.000000005, recomputed: 1000 },
    ]);
  });
});

test("models lists the same as the server", async () => {
  const answer = await fetch(`${rig.gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${await rig.gateway.token()}` },
  });
  const { data } = (await answer.json()) as { data: { id: string }[] };
  const listed = await runJson<{ id: string; context_length: number | null }[]>("models");
  expect(listed.map(({ id }) => id)).toEqual(data.map(({ id }) => id));
  expect(new Set(listed.map(({ id }) => id.split("/")[0])).size).toBe(Object.keys(chatModels).length);
  expect(await run("models")).toMatch(/^MODEL +CONTEXT\n/);
});

test("doctor reports healthy books and upstreams, or the problems", async () => {
  interface Finding {
    check: string;
    ok: boolean;
    detail: string;
  }
  const findings = await runJson<Finding[]>("doctor");
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  const checks = [
    "configuration",
    "ledger",
    "prices",
    ...Object.keys(chatModels).map((prefix) => `provider ${prefix}`),
  ];
  expect(findings.map(({ check }) => check)).toEqual(checks);

  const folder = mkdtempSync(join(tmpdir(), "tollgate-doctor-"));
  const config = join(folder, "tollgate.yaml");
  const providers = {
    down: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "sk-doctors-secret" },
    keyless: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "${NO_SUCH_KEY}" },
    refused: {
      kind: "openai",
      base_url: rig.simulators.providers.openai,
      keys: [
        { name: "good", secret: "sk-good" },
        { name: "wrong", secret: "bad-key" },
      ],
    },
  };
  writeFileSync(config, stringify({ providers, storage: `sqlite:${join(folder, "doctor.db")}` }));
  const ill = await command(["doctor", "--json", "--config", config]);
  rmSync(folder, { recursive: true, force: true });
  expect(ill.code).toBe(1);
  const found = JSON.parse(ill.stdout) as Finding[];
  expect(found.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(["provider down", "provider refused"]);
  expect(found.find(({ check }) => check === "provider refused")?.detail).toContain("refuses the key wrong (401)");
  expect(found.find(({ check }) => check === "provider keyless")?.detail).toBe("not routed: set NO_SUCH_KEY");
  expect(ill.stdout).not.toContain("sk-doctors-secret");
});

test("sim runs the simulators alone, until it is stopped", async () => {
  const child = Bun.spawn([join(root, "bin/tollgate"), "sim", "--port", "0", "--json"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await child.stdout.getReader().read();
  const ready = JSON.parse(new TextDecoder().decode(value)) as { url: string; providers: Record<string, string> };
  const answer = await fetch(`${ready.providers["openai"]}/models`, { headers: { authorization: "Bearer any" } });
  expect(answer.status).toBe(200);
  await answer.text();
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(await fetch(ready.url).catch(() => "refused")).toBe("refused");
});

describe("a start that cannot be", () => {
  let folder: string;
  let files = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tollgate-refused-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const openai = { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "k" };
  const inFolder = (name: string): string => join(folder, name);

  /** Starts a server that must end by itself with one line, and gives that line back. */
  async function refusal(config: string, ...options: string[]): Promise<string> {
    files += 1;
    const file = inFolder(`tollgate-${files}.yaml`);
    writeFileSync(file, config);
    const storage = options.includes("--storage") ? [] : ["--storage", `sqlite:${inFolder(`fresh-${files}.db`)}`];
    const args = options.includes("--config") ? options : ["--config", file, ...options];
    const { code, stdout, stderr } = await command(["serve", "--port", "0", ...storage, ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    return stderr.trimEnd();
  }

  test.concurrent.each([
    ["an unknown key", { providers: { openai }, server: { prot: 1 } }, "tollgate: config: server.prot: unknown key"],
    [
      "a bad size",
      { providers: { openai }, server: { body_limit: "32 megs" } },
      "tollgate: config: server.body_limit: ",
    ],
    [
      "a wrong kind",
      { providers: { openai: { ...openai, kind: "opnai" } } },
      "tollgate: config: providers.openai.kind: ",
    ],
    [
      "a missing variable",
      { providers: { openai }, server: { host: "${NO_SUCH_HOST}" } },
      "tollgate: config: server.host: the variable NO_SUCH_HOST is not set",
    ],
  ])("%s is named", async (_what, config, line) => {
    expect(await refusal(stringify(config))).toStartWith(line);
  });

  test.concurrent.each([["malformed", "providers: {openai: [\n"]])(
    "YAML that does not hold: %s",
    async (_what, text) => {
      expect(await refusal(text)).toStartWith(`tollgate: config: ${inFolder("tollgate-")}`);
    },
  );

  test.concurrent("a file that cannot be read", async () => {
    expect(await refusal("", "--config", inFolder("absent.yaml"))).toBe(
      `tollgate: config: cannot read the file ${inFolder("absent.yaml")}`,
    );
  });

  test.concurrent("a storage that is newer than this code is left as it is", async () => {
    const path = inFolder("newer.db");
    const database = new Database(path, { create: true });
    database.run("PRAGMA user_version = 999");
    database.close();
    expect(await refusal(stringify({ providers: { openai } }), "--storage", `sqlite:${path}`)).toMatch(
      /^tollgate: storage: .*999.*newer Tollgate$/,
    );
    const after = new Database(path);
    expect(after.query("SELECT name FROM sqlite_schema").all()).toEqual([]);
    after.close();
  });

  test.concurrent("an invalid storage, or one that cannot be opened", async () => {
    writeFileSync(inFolder("letter.db"), "Dear reader, this is no database. ".repeat(100));
    const config = stringify({ providers: { openai } });
    expect(await refusal(config, "--storage", `sqlite:${inFolder("letter.db")}`)).toStartWith("tollgate: storage: ");
    expect(await refusal(config, "--storage", `sqlite:${inFolder("letter.db")}/below.db`)).toStartWith(
      "tollgate: storage: cannot open",
    );
    expect(await refusal(config, "--storage", "mysql://host/db")).toStartWith(
      'tollgate: storage: "mysql" is no storage',
    );
  });

  test.concurrent("a port that is taken, also with a sandbox", async () => {
    const port = new URL(rig.gateway.url).port;
    const config = stringify({ providers: { openai: { ...openai, api_key: "${NO_SUCH_KEY}" } } });
    for (const sandbox of [[], ["--sandbox"]]) {
      expect(await refusal(config, "--port", port, ...sandbox)).toBe(
        `tollgate: cannot listen on 127.0.0.1:${port}: the port is in use; choose another one with --port`,
      );
    }
  });

  test.concurrent("a file of SQLite that another server serves", async () => {
    const { folder: served, storageUrl, url } = rig.gateway;
    expect(await refusal(stringify({ providers: { openai } }), "--storage", storageUrl)).toBe(
      `tollgate: another gateway serves ${join(served, "tollgate.db")}: stop it, or replace it by serve --handover (SQLite serves one process)`,
    );
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});
