/** A gateway that reads its configuration again while it runs: real processes, files and signals. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openNodeStore, reloadNodes } from "../../src/nodes/index.ts";
import {
  chatPath,
  EventReader,
  flatPrice,
  type Gateway,
  hasProc,
  type PostgresServer,
  processTree,
  query,
  runCli,
  simulatedProviders,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  stopGateways,
  until,
  userBooks,
} from "../kit/index.ts";

const STREAMS = 200;

let simulators: Simulators;
let gateway: Gateway;
let token: string;
beforeAll(async () => {
  simulators = await startSimulators();
  gateway = await startGateway({ providers: simulatedProviders(simulators) });
  token = await gateway.token();
});
afterAll(async () => {
  await stopGateways();
  await simulators.stop();
});

/** Writes the configuration file of a gateway: the simulated providers, with changes. */
function write({ configFile }: Gateway, changes: Record<string, unknown> = {}): void {
  const usual = { providers: simulatedProviders(simulators), pricing: { models: { "*": flatPrice } } };
  writeFileSync(configFile, stringify({ ...usual, ...changes }));
}

interface Reload {
  node: string;
  ok: boolean;
  changed: string[];
  need_restart: string[];
  error?: string;
}

/** Runs the command that waits for the reload. */
async function reload(at: Gateway, ...options: string[]): Promise<Reload> {
  const { stdout, stderr } = await at.cli("config", "reload", "--json", ...options);
  const [outcome] = JSON.parse(stdout === "" ? "[]" : stdout) as Reload[];
  if (outcome === undefined) throw new Error(stderr);
  return outcome;
}

const call = (at: Gateway, of: string, model: string, stream = false): Promise<Response> =>
  fetch(at.url + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${of}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "words:20" }], stream }),
    keepalive: false,
  });

/** 5 tokens in and 20 out, at 1 and 2 credits a million. */
const CALL_NANO = 45_000n;

describe("a reload", () => {
  test("under 200 streams: none is lost, each costs what it cost when it began, and the next call has the new price", async () => {
    const caller = await gateway.token({ user: "streams" });
    const readers = await Promise.all(
      Array.from({ length: STREAMS }, async () => {
        const answer = await call(gateway, caller, "openai/gpt-4o-mini+pace-100", true);
        expect(answer.status).toBe(200);
        return new EventReader(answer);
      }),
    );
    await Promise.all(readers.map((reader) => reader.next()));
    const { openai: _, ...others } = simulatedProviders(simulators);
    write(gateway, {
      providers: { ...others, renamed: { kind: "openai", base_url: simulators.providers.openai, api_key: "other" } },
      pricing: { models: { "*": { input_mtok: 10, output_mtok: 20 } } },
    });
    const outcome = await reload(gateway);
    expect(outcome).toMatchObject({ ok: true, need_restart: [] });
    expect(outcome.changed).toContain("providers.renamed");
    expect((await call(gateway, caller, "openai/gpt-4o-mini")).status).toBe(404);
    const next = await call(gateway, caller, "renamed/gpt-4o-mini");
    expect([next.status, next.headers.get("x-tollgate-credits")]).toEqual([200, "0.00045"]);
    const ends = await Promise.all(readers.map((reader) => reader.rest()));
    expect(ends.filter((end) => !end.endsWith("data: [DONE]\n\n"))).toEqual([]);
    const { spent, held } = await userBooks(gateway, "streams");
    expect({ spent, held }).toEqual({ spent: BigInt(STREAMS) * CALL_NANO + 10n * CALL_NANO, held: 0n });
    write(gateway);
    expect(await reload(gateway)).toMatchObject({ ok: true });
    expect((await call(gateway, token, "openai/gpt-4o-mini")).status).toBe(200);
  });

  test("with a mistake changes nothing, and its reason names the key", async () => {
    write(gateway, { pricing: { markup: -1, models: { "*": flatPrice } } });
    const { code, stdout } = await gateway.cli("config", "reload");
    expect([code, stdout]).toEqual([1, expect.stringContaining("refused: config: pricing.markup: ") as string]);
    write(gateway, { routing: { routes: { fast: { tiers: [[{ model: "openai/gpt-4o" }]] } } }, pricing: {} });
    expect(await reload(gateway)).toMatchObject({ ok: true });
    write(gateway, { routing: { routes: { fast: { tiers: [[{ model: "openai/unheard-of" }]] } } }, pricing: {} });
    const { ok, error } = await reload(gateway);
    expect([ok, error]).toEqual([false, expect.stringContaining("routing.routes.fast.tiers.0.0.model") as string]);
    expect((await call(gateway, token, "fast")).status).toBe(200);
    write(gateway);
    expect(await reload(gateway)).toMatchObject({ ok: true });
  });

  test("that several ask for at once is done for each, and each gets its outcome", async () => {
    const store = openNodeStore(gateway.storage);
    const nodes = await store.seenSince(0);
    const options = { store, randomBytes: (size: number) => randomBytes(size), force: false, waitMsMax: 60_000 };
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => reloadNodes(nodes, options)));
    expect(outcomes.flat().map(({ result }) => result["ok"])).toEqual(Array.from({ length: 6 }, () => true));
  });

  test("names what needs a restart, and leaves it as it is", async () => {
    write(gateway, { server: { body_limit: 10 }, storage_journal: "elsewhere", log: { level: "debug" } });
    expect(await reload(gateway)).toMatchObject({
      ok: true,
      changed: ["log.level"],
      need_restart: ["server.body_limit", "storage_journal"],
    });
    expect((await call(gateway, token, "openai/gpt-4o-mini")).status).toBe(200);
    write(gateway);
    expect(await reload(gateway)).toMatchObject({ ok: true, changed: ["log.level"], need_restart: [] });
  });

  test("keeps a provider that stored answers need, unless forced", async () => {
    const created = await fetch(`${gateway.url}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ model: "xai/grok-4", input: "words:3" }),
    });
    expect(created.status).toBe(200);
    const { xai: _, ...others } = simulatedProviders(simulators);
    write(gateway, { providers: others });
    const refused = await reload(gateway);
    expect([refused.ok, refused.error]).toEqual([
      false,
      expect.stringMatching(/stored answers of xai: 1.*--force/) as string,
    ]);
    expect(await reload(gateway, "--force")).toMatchObject({ ok: true, changed: ["providers.xai"] });
    write(gateway);
    expect(await reload(gateway)).toMatchObject({ ok: true });
  });

  test("is done at SIGHUP, and logged", async () => {
    write(gateway, { pricing: { markup: 3, models: { "*": flatPrice } } });
    gateway.process.kill("SIGHUP");
    await until("the reload is logged", () =>
      gateway
        .logLines()
        .some((line) => line["msg"] === "configuration reloaded" && String(line["changed"]) === "pricing.markup"),
    );
    expect((await call(gateway, token, "openai/gpt-4o-mini")).headers.get("x-tollgate-credits")).toBe("0.000135");
    write(gateway);
    expect(await reload(gateway)).toMatchObject({ ok: true });
  });

  test("is done by the admin API with an operator's token alone, on all nodes, and noted", async () => {
    const byUrl = async (role: "operator" | "member" | undefined) => {
      const variables = { TOLLGATE_TOKEN: role === undefined ? "" : await gateway.token({ user: role, role }) };
      return runCli(["config", "reload", "--url", gateway.url, "--json"], variables);
    };
    write(gateway, { pricing: { markup: 4, models: { "*": flatPrice } } });
    const reloaded = await byUrl("operator");
    expect([reloaded.code, reloaded.stderr]).toEqual([0, ""]);
    expect(JSON.parse(reloaded.stdout)).toMatchObject([
      { ok: true, changed: ["pricing.markup"], need_restart: [], error: null },
    ]);
    expect((await call(gateway, token, "openai/gpt-4o-mini")).headers.get("x-tollgate-credits")).toBe("0.00018");
    const noted = await query<{ actor: string }>(
      gateway.storage,
      "SELECT actor FROM audit WHERE act = 'config.reload' AND actor LIKE 'token:%'",
    );
    expect(noted).toHaveLength(1);
    const refused = await byUrl("member");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("answers 403") as string]);
    expect((await byUrl(undefined)).stderr).toContain("TOLLGATE_TOKEN");
    write(gateway, { pricing: { markup: "x" } });
    const mistaken = await byUrl("operator");
    expect([mistaken.code, JSON.parse(mistaken.stdout)]).toMatchObject([
      1,
      [{ ok: false, error: expect.stringContaining("pricing.markup") as string }],
    ]);
    write(gateway);
    expect(await reload(gateway)).toMatchObject({ ok: true });
  });

  test("without a gateway is refused", async () => {
    const { code, stderr } = await runCli(["config", "reload", "--storage", "sqlite::memory:"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("no gateway of this storage runs on this machine") as string,
    ]);
  });
});

describe("tollgate config check", () => {
  test("needs no storage, and names the key of a mistake", async () => {
    write(gateway, { storage: "postgres://nobody@127.0.0.1:1/nothing" });
    const good = await runCli(["config", "check", gateway.configFile, "--json"]);
    expect([good.code, JSON.parse(good.stdout)]).toEqual([
      0,
      { file: gateway.configFile, ok: true, providers_without_key: [], notes: [] },
    ]);
    write(gateway, { routing: { routes: { fast: { tiers: [[{ model: "openai/unheard-of" }]] } } }, pricing: {} });
    const bad = await runCli(["config", "check", gateway.configFile]);
    expect([bad.code, bad.stderr]).toEqual([
      1,
      expect.stringContaining("routing.routes.fast.tiers.0.0.model") as string,
    ]);
    write(gateway);
  });
});

test("a key that is rotated in a mounted file: no 401 reaches a caller, and stored objects are found", async () => {
  const { origin, pathname } = new URL(simulators.providers.openai);
  const upstream = startScriptedUpstream();
  const accepted = new Set(["sk-one"]);
  upstream.answerWith(({ method, path, key, body }) => {
    if (!accepted.has(key)) return Response.json({ error: { message: "wrong key" } }, { status: 401 });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    return fetch(origin + path, { method, headers, ...(body !== "" && { body }) });
  });
  const provider = { kind: "openai", base_url: upstream.url + pathname };
  const rotated = await startGateway({ providers: { openai: { ...provider, api_key: "sk-one" } } });
  const authorization = `Bearer ${await rotated.token()}`;
  const created = await fetch(`${rotated.url}/v1/responses`, {
    method: "POST",
    headers: { authorization },
    body: JSON.stringify({ model: "openai/gpt-4o-mini", input: "words:3" }),
  });
  const { id } = (await created.json()) as { id: string };
  // As Kubernetes mounts a secret: a link is turned to the folder of the next one.
  const mount = (version: string): void => {
    mkdirSync(join(rotated.folder, version));
    writeFileSync(join(rotated.folder, version, "key"), `sk-${version}\n`);
    symlinkSync(version, join(rotated.folder, "next"));
    renameSync(join(rotated.folder, "next"), join(rotated.folder, "secrets"));
  };
  mount("one");
  const secret = `\${file:${join(rotated.folder, "secrets/key")}}`;
  write(rotated, { providers: { openai: { ...provider, keys: [{ name: "prod", secret }] } } });
  expect(await reload(rotated)).toMatchObject({ ok: true, changed: ["providers.openai"] });
  const named = await query(rotated.storage, "SELECT DISTINCT key_id FROM responses");
  expect(named).toEqual([{ key_id: "prod" }]);

  const statuses = new Set<number>();
  const ending = new AbortController();
  const caller = await rotated.token();
  const load = Array.from({ length: 3 }, async () => {
    while (!ending.signal.aborted) {
      const answer = await call(rotated, caller, "openai/gpt-4o-mini");
      statuses.add(answer.status);
      await answer.text();
    }
  });
  const callsWith = (key: string): number => upstream.requests.filter((request) => request.key === key).length;
  await until("calls are made", () => callsWith("sk-one") > 5);
  accepted.add("sk-two");
  mount("two");
  await until("the new key is used", () => callsWith("sk-two") > 20);
  accepted.delete("sk-one");
  const before = callsWith("sk-two");
  await until("the old key is not missed", () => callsWith("sk-two") > before + 20);
  ending.abort();
  await Promise.all(load);
  expect([...statuses]).toEqual([200]);
  const found = await fetch(`${rotated.url}/v1/responses/${id}`, { headers: { authorization } });
  expect(found.status).toBe(200);
  expect(upstream.requests.at(-1)).toMatchObject({ method: "GET", key: "sk-two" });
  expect(rotated.log()).not.toMatch(/sk-one|sk-two/);
  await rotated.stop();
  await upstream.stop();
});

test.skipIf(!hasProc)(
  "all workers take a changed file under --watch, and one that is killed comes back with it",
  async () => {
    const postgres: PostgresServer = await startPostgres();
    const workers = await startGateway({
      storage: await postgres.createDatabase(),
      providers: simulatedProviders(simulators),
      arguments: ["--workers", "2", "--watch"],
    });
    const caller = await workers.token();
    const priceOf = async (): Promise<string | null | undefined> =>
      (await call(workers, caller, "openai/gpt-4o-mini").catch(() => undefined))?.headers.get("x-tollgate-credits");
    const prices = async (): Promise<string> =>
      [...new Set(await Promise.all(Array.from({ length: 12 }, priceOf)))].join();
    expect(await prices()).toBe("0.000045");
    write(workers, { pricing: { markup: 2, models: { "*": flatPrice } } });
    await until("the parent has reloaded", () =>
      workers.logLines().some(({ msg }) => msg === "configuration reloaded"),
    );
    expect(await prices()).toBe("0.00009");
    const victim = processTree(workers.process.pid).find(({ command }) => command.endsWith(" worker 1"));
    process.kill(victim?.pid ?? 0, "SIGKILL");
    await until("it is replaced", () => workers.logLines().filter(({ msg }) => msg === "worker listens").length === 3);
    expect(await prices()).toBe("0.00009");
    write(workers, { pricing: { markup: 4, models: { "*": flatPrice } } });
    expect(await reload(workers)).toMatchObject({ ok: true });
    expect(await prices()).toBe("0.00018");
    expect(await workers.stop()).toBe(0);
    await postgres.stop();
  },
);
