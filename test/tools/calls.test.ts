/** Calls of other servers' tools as paid work, on both stores: in turns, repeated only if that is safe, within budgets, in all reports. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  letLeasesLapse,
  oneCredit,
  sharedPostgres,
  spentBy,
  startGateway,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "./tool-server.ts";

/** Places for calls: one user gets two of them at one server. */
const PLACES = 4;

const postgres = sharedPostgres();
let servers: Record<"billed" | "other" | "parted", TestServer>;
/** Streams of calls that the server closes before one has the answer. */
let closings = 0;
/** Ends the calls that wait, by their argument `key`. */
const waiting = new Map<unknown, () => void>();
/** How many calls of `cut` and `cut_once` are lost before one is answered. */
let cuts = 0;

async function perform({ name, arguments: given }: Record<string, unknown>) {
  if (name === "fail" || name === "fail_free") return { ...textResult("no"), isError: true };
  if (name === "cut" || name === "cut_once") {
    cuts -= 1;
    if (cuts >= 0) throw new Error("no answer");
  }
  if (name === "wait") {
    const { key } = given as { key: string };
    await new Promise<void>((resolve) => waiting.set(key, resolve));
    waiting.delete(key);
  }
  return textResult("done");
}

const tools = ["get", "fail", "fail_free", "cut", "cut_once", "wait"].map((name) => ({
  name,
  description: name,
  inputSchema: { type: "object" },
}));

beforeAll(() => {
  const start = (): TestServer => startTestServer({ era: "2026", tools, call: perform });
  const closes = (): boolean => (closings -= 1) >= 0;
  servers = { billed: start(), other: start(), parted: startTestServer({ era: "2025", tools, call: perform, closes }) };
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));

describe.each(engines)("on %s", (engine) => {
  let gateway: Gateway;
  let place: { storage?: string };

  const startIt = (more: { folder?: string } = {}): Promise<Gateway> =>
    startGateway({
      ...place,
      ...more,
      providers: {},
      config: {
        metrics: { port: 0 },
        mcp: {
          calls: PLACES,
          servers: {
            billed: {
              url: servers.billed.url,
              price: { call: 1, errors: ["fail"] },
              idempotent: ["get", "cut"],
            },
            other: { url: servers.other.url, price: { call: 1 } },
            parted: { url: servers.parted.url, price: { call: 1 }, timeout: "3s", idempotent: ["cut"] },
          },
        },
      },
    });

  beforeAll(async () => {
    place = await storageOn(engine, postgres);
    gateway = await startIt();
  });
  afterAll(async () => {
    await expectCleanAudit(gateway);
    await gateway.stop();
  });

  const call = (token: string, name: string, given: object = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.url}/v1/tools/${name}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(given),
      ...(signal && { signal }),
    });

  const sentTo = (server: TestServer, name: string): number =>
    server.of("tools/call").filter(({ params }) => params["name"] === name).length;

  test("a result with isError is free unless the price names its tool", async () => {
    const token = await gateway.token({ user: "errors" });
    expect(await (await call(token, "billed__fail_free")).json()).toMatchObject({ isError: true });
    expect(await spentBy(gateway, "errors")).toBe(0n);
    const charged = await call(token, "billed__fail");
    expect([await charged.json(), charged.headers.get("x-tollgate-credits")]).toMatchObject([{ isError: true }, "1"]);
    expect(await spentBy(gateway, "errors")).toBe(oneCredit);
  });

  test("a call whose answer is lost is sent again only if the configuration names it, and charged once", async () => {
    const token = await gateway.token({ user: "lost" });
    cuts = 1;
    const before = { once: sentTo(servers.billed, "cut_once"), often: sentTo(servers.billed, "cut") };
    expect((await call(token, "billed__cut_once")).status).toBe(502);
    expect(sentTo(servers.billed, "cut_once") - before.once).toBe(1);
    expect(await spentBy(gateway, "lost")).toBe(0n);
    cuts = 2;
    expect((await call(token, "billed__cut")).status).toBe(200);
    expect(sentTo(servers.billed, "cut") - before.often).toBe(3);
    expect(await spentBy(gateway, "lost")).toBe(oneCredit);
  });

  test("a call whose stream the server closes is held until its answer is read on another, and charged once", async () => {
    const token = await gateway.token({ user: "parted" });
    closings = 2;
    const before = (name: string): number => sentBefore[name] ?? 0;
    const sentBefore = Object.fromEntries(["wait", "get", "cut"].map((name) => [name, sentTo(servers.parted, name)]));
    const answer = call(token, "parted__wait", { key: "parted" });
    await until("the answer is waited for on the third stream", () => Promise.resolve(waiting.has("parted")));
    expect([closings, await userBooks(gateway, "parted")]).toMatchObject([-1, { held: oneCredit, spent: 0n }]);
    waiting.get("parted")?.();
    expect([(await answer).status, sentTo(servers.parted, "wait")]).toEqual([200, before("wait") + 1]);
    expect(await spentBy(gateway, "parted")).toBe(oneCredit);
    // A server that never gives the answer: not sent again, also if it might be, since there is no time left.
    closings = 1_000;
    for (const name of ["get", "cut"]) {
      expect(await (await call(token, `parted__${name}`)).json()).toMatchObject({
        error: { code: "upstream_timeout" },
      });
      expect(sentTo(servers.parted, name)).toBe(before(name) + 1);
    }
    expect(await spentBy(gateway, "parted")).toBe(oneCredit);
    await until("the server learns that nobody waits", () => {
      const cancelled = servers.parted.of("notifications/cancelled").length;
      return Promise.resolve(cancelled >= 2);
    });
    closings = 0;
  });

  test("one user's calls leave places to others, and a call that leaves in its wait is neither sent nor charged", async () => {
    const [greedy, other] = await Promise.all(["greedy", "other"].map((user) => gateway.token({ user })));
    const before = sentTo(servers.billed, "wait");
    const leaving = new AbortController();
    const calls = Array.from({ length: 5 }, (_, index) => call(greedy ?? "", "billed__wait", { key: `a${index}` }));
    await until("the first calls are there", () => Promise.resolve(sentTo(servers.billed, "wait") === before + 2));
    const left = call(greedy ?? "", "billed__wait", { key: "left" }, leaving.signal).catch(() => "left");
    expect((await call(other ?? "", "billed__get")).status).toBe(200);
    expect((await call(other ?? "", "other__get")).status).toBe(200);
    expect(sentTo(servers.billed, "wait")).toBe(before + 2);
    await until("all calls are held for", async () => (await userBooks(gateway, "greedy")).held === 6n * oneCredit);
    leaving.abort();
    expect(await left).toBe("left");
    await until("its hold is given back", async () => (await userBooks(gateway, "greedy")).held === 5n * oneCredit);
    await until("the others have their turns", () => {
      for (const finish of waiting.values()) finish();
      return Promise.resolve(sentTo(servers.billed, "wait") === before + 5);
    });
    for (const finish of waiting.values()) finish();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await spentBy(gateway, "greedy")).toBe(5n * oneCredit);
    expect(sentTo(servers.billed, "wait")).toBe(before + 5);
  });

  test("a budget on a server's tools bounds calls at once, exactly", async () => {
    const token = await gateway.token({ user: "bounded" });
    const cli = async (...given: string[]): Promise<Record<string, unknown>> =>
      JSON.parse((await gateway.cli(...given, "--json")).stdout) as Record<string, unknown>;
    await cli("group", "create", "billed-tools", "--models", "billed/*");
    const budget = ["--user", "bounded", "--models", "billed-tools", "--max-budget", "3"];
    const { id } = await cli("budget", "create", ...budget);
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(token, "billed__get")));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(5);
    expect((await call(token, "other__get")).status).toBe(200);
    await until("it is spent", async () => (await cli("budget", "show", String(id)))["spend"] === 3);
  });

  test("usage and metrics have the tool as the model of its server", async () => {
    const token = await gateway.token({ user: "reported" });
    const headers = { authorization: `Bearer ${token}` };
    expect((await call(token, "billed__get")).status).toBe(200);
    expect((await call(token, "other__fail")).status).toBe(200);
    expect(await spentBy(gateway, "reported")).toBe(oneCredit);
    const used = await fetch(`${gateway.url}/v1/usage?group_by=operation,provider,model`, { headers });
    const { data } = (await used.json()) as { data: unknown[] };
    expect(data).toMatchObject([
      { operation: "tool", provider: "billed", model: "billed/get", requests: 1, credits: 1 },
      { operation: "tool", provider: "other", model: "other/fail", requests: 1, credits: 0 },
    ]);
    const { url } = gateway.logLines().findLast(({ msg }) => msg === "metrics") ?? {};
    const metrics = await (await fetch(String(url))).text();
    const labels = 'operation="tool",provider="billed",model="get"';
    expect(metrics).toContain(`tollgate_calls_total{${labels},class="ok"}`);
    expect(metrics).toContain(`tollgate_units_total{${labels},unit="tool_calls"}`);
    expect(metrics).toContain(`tollgate_credits_total{${labels}}`);
    expect(metrics).toContain('tollgate_queue_started_total{queue="tool_calls"}');
  });

  test("a call during which the gateway is killed was held once, and ends once", async () => {
    const token = await gateway.token({ user: "killed" });
    const before = sentTo(servers.billed, "wait");
    const lost = call(token, "billed__wait", { key: "killed" }).catch(() => "lost");
    await until("it is there", () => Promise.resolve(sentTo(servers.billed, "wait") === before + 1));
    expect(await userBooks(gateway, "killed")).toMatchObject({ held: oneCredit, spent: 0n });
    gateway.process.kill("SIGKILL");
    await gateway.process.exited;
    expect(await lost).toBe("lost");
    waiting.get("killed")?.();
    const { folder } = gateway;
    await letLeasesLapse(gateway.storage);
    await gateway.stop({ keepFolder: true });
    gateway = await startIt({ folder });
    const ledger = openLedgerStore(gateway.storage);
    await until("no hold is left", async () => (await ledger.openHolds()).length === 0);
    expect(await userBooks(gateway, "killed")).toMatchObject({ held: 0n, spent: 0n });
    const headers = { authorization: `Bearer ${token}` };
    const list = await fetch(`${gateway.url}/v1/generations?limit=10`, { headers });
    const { data } = (await list.json()) as { data: unknown[] };
    expect(data).toMatchObject([{ operation: "tool", provider: "billed", outcome: "expired" }]);
    expect((await call(token, "billed__get")).status).toBe(200);
    expect(sentTo(servers.billed, "wait")).toBe(before + 1);
    if (engine === "Postgres") rmSync(folder, { recursive: true, force: true });
  });
});
