/** Exports of a running gateway by API and command: whole ones, and those that nobody takes to their end. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { firstRequestIdAt } from "../../src/core/index.ts";
import { insertGeneration, plainGeneration } from "../kit/generations.ts";
import { command, type Gateway, operatorOf, query, runCli, startGateway, stopGateways, until } from "../kit/index.ts";

const CALLS = 30_000;

let gateway: Gateway;
let owner: string;

const { run } = operatorOf(() => gateway);

beforeAll(async () => {
  gateway = await startGateway({ providers: {} });
  owner = await gateway.token({ user: "root", role: "owner", credits: undefined });
  await gateway.token({ user: "ann", organisation: "acme", credits: undefined });
  const [token] = await query<{ id: string }>(gateway.storage, "SELECT id FROM tokens WHERE user_name = 'ann'");
  const startedAt = Date.now() - 3_600_000;
  const id = firstRequestIdAt(startedAt);
  await insertGeneration(gateway.storage, {
    id,
    owner: "ann",
    tokenId: token?.id ?? "",
    ...plainGeneration,
    startedAt,
  });
  const columns =
    "debit_account, credit_account, amount, held, shortfall, created_at, owner, operation, dialect, provider, model, streamed, status, outcome, usage, input_tokens, output_tokens, ms, started_at, kind";
  await query(
    gateway.storage,
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${CALLS - 1})
    INSERT INTO entries (id, ${columns}) SELECT '${id.slice(0, -6)}' || printf('%06d', n), ${columns} FROM numbers, (SELECT * FROM entries WHERE id = '${id}')`,
  );
});
afterAll(stopGateways);

const ask = (path: string, token = owner, signal?: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}/admin/v1/exports?${path}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(signal && { signal }),
  });

test("a command has the same rows as a request, on the storage and of a running gateway", async () => {
  const csv = await (await ask("what=usage")).text();
  expect(parse(csv, { columns: true })).toMatchObject([{ organisation: "acme", user: "ann", requests: String(CALLS) }]);
  expect(await run("export", "usage")).toBe(csv);
  const answered = await command(["export", "usage", "--server", gateway.url]);
  expect(answered).toMatchObject({ code: 1, stderr: expect.stringContaining("TOLLGATE_TOKEN") as string });
  const line = await runCli(["export", "usage", "--json", "--server", gateway.url, "--since", "2d"], {
    TOLLGATE_TOKEN: owner,
  });
  expect(line.stderr).toBe("");
  expect(JSON.parse(line.stdout)).toMatchObject({ object: "usage", user: "ann", requests: CALLS });
  const report = await runCli(["usage", "--by", "user", "--json", "--server", gateway.url], { TOLLGATE_TOKEN: owner });
  expect(JSON.parse(report.stdout)).toMatchObject({ data: [{ user: "ann", requests: CALLS }], group_by: ["user"] });
});

test("a file has its name once it is whole", async () => {
  const file = join(gateway.folder, "entries.csv");
  await run("export", "entries", "--since", "1970-01-01", "--output", file);
  expect(parse(readFileSync(file, "utf8"), { columns: true })).toHaveLength(CALLS);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const none = join(gateway.folder, "none.csv");
  const failed = await command(["export", "audit", "--user", "ann", "--output", none, "--config", gateway.configFile]);
  expect([failed.code, existsSync(none), existsSync(`${none}.part`)]).toEqual([1, false, false]);
});

test("a provider's report is compared with the calls of its days", async () => {
  const day = new Date(Date.now() - 3_600_000).toISOString().slice(0, 10);
  const file = join(gateway.folder, "costs.csv");
  const tokens = join(gateway.folder, "usage.csv");
  const of = (model: string, rest: string): string => `${day},${model},${rest}\n`;
  // The calls have no list price here.
  await Bun.write(file, `usage_date_utc,model,cost_usd\n${of("m-2026-01-01", "0.001")}`);
  await Bun.write(
    tokens,
    `usage_date_utc,model_version,usage_input_tokens_no_cache,usage_output_tokens\n${of("M", `${7 * CALLS},${3 * CALLS}`)}`,
  );
  const options = ["--config", gateway.configFile, "--storage", gateway.storageUrl];
  const same = await command(["reconcile", "openai", "--file", file, "--file", tokens, ...options]);
  expect([same.code, same.stderr]).toEqual([0, ""]);
  expect(same.stdout).toMatch(/rounding: /);
  await Bun.write(file, `usage_date_utc,model,cost_usd\n${of("m", "12.5")}${of("gpt-9", "3")}`);
  const other = await runCli(["reconcile", "openai", "--file", file, "--json", "--server", gateway.url], {
    TOLLGATE_TOKEN: owner,
  });
  expect(other.code).toBe(1);
  expect(JSON.parse(other.stdout)).toMatchObject({
    data: [
      { day, model: "gpt-9", provider_cost: 3, requests: 0, difference: 3, reason: "other-calls" },
      {
        day,
        model: "m",
        provider_cost: 12.5,
        list_credits: 0,
        requests: CALLS,
        beyond_tolerance: true,
        reason: "unpriced",
      },
    ],
    total: { provider_cost: 15.5, difference: 15.5 },
  });
  const wrong = await command(["reconcile", "openai", "--file", join(gateway.folder, "none.csv"), ...options]);
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be read") as string });
});

test("all calls are there once, and a client that leaves makes room for another", async () => {
  const lines = (await (await ask("what=generations&format=jsonl")).text()).trimEnd().split("\n");
  const ids = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  expect([lines.length, ids.size]).toEqual([CALLS, CALLS]);
  // Two at a time are a user's: those that were left make room.
  for (let round = 0; round < 4; round += 1) {
    const leaving = new AbortController();
    const answer = await ask("what=generations", owner, leaving.signal);
    expect(answer.status).toBe(200);
    leaving.abort();
    await until("there is room", async () => {
      const another = await ask("what=usage");
      await another.arrayBuffer();
      return another.status === 200;
    });
  }
});

test("an export that a slow client takes ends with the rights of its caller, and not like a whole one", async () => {
  const auditor = await gateway.token({ user: "auditor", role: "auditor", credits: undefined });
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const path = "/admin/v1/exports?what=generations&format=jsonl";
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${auditor}\r\n\r\n`);
  let text = "";
  let isPaused = false;
  const ended = new Promise((resolve) => socket.once("close", resolve));
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
    if (isPaused || text.length < 100_000) return;
    isPaused = true;
    socket.pause();
  });
  await until("it has begun", () => isPaused);
  await run("user", "disable", "auditor");
  await until("it counts", async () => (await ask("what=usage", auditor)).status === 401);
  socket.resume();
  await ended;
  expect(text).toStartWith("HTTP/1.1 200 OK\r\n");
  expect(text.endsWith("0\r\n\r\n")).toBe(false);
  expect(text.split("\n").length).toBeLessThan(CALLS);
  await until("it is logged", () =>
    gateway.logLines().some(({ msg, what }) => msg === "an export has ended early" && what === "generations"),
  );
  expect(gateway.log()).not.toContain(auditor);
  expect(gateway.process.exitCode).toBeNull();
});
