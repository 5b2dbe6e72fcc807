/** `GET /metrics` of running gateways: of one process, and of several workers as one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatCredits } from "../../src/core/index.ts";
import {
  chatPath,
  type Gateway,
  hasProc,
  type PostgresServer,
  processTree,
  type Rig,
  simulatedProviders,
  startGateway,
  startPostgres,
  startRig,
  until,
} from "../kit/index.ts";

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

function samplesOf(text: string): Sample[] {
  return text.split("\n").flatMap((line) => {
    const [, name = "", labels = "", value = ""] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === "") return [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", held = ""]) => [key, held]);
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }];
  });
}

const urlOf = (gateway: Gateway): Promise<string> =>
  until("metrics are served", () => {
    const url = gateway.logLines().find(({ msg }) => msg === "metrics")?.["url"];
    return typeof url === "string" && url;
  });

async function scrape(gateway: Gateway): Promise<Sample[]> {
  const answer = await fetch(await urlOf(gateway));
  expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  return samplesOf(await answer.text());
}

const sumOf = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number =>
  samples
    .filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, held]) => sample.labels[key] === held),
    )
    .reduce((sum, { value }) => sum + value, 0);

const metrics = { port: 0 };
let rig: Rig;
let postgres: PostgresServer;
beforeAll(async () => {
  [rig, postgres] = await Promise.all([startRig({ config: { metrics } }), startPostgres()]);
});
afterAll(async () => {
  await rig.stop();
  await postgres.stop();
});

const body = (model: string, stream = false) => ({ model, stream, messages: [{ role: "user", content: "words:5" }] });

describe("of one process", () => {
  test("they have the charges, the ends of calls, and the open ones", async () => {
    const caller = await rig.caller();
    for (const stream of [false, true]) await (await caller.chat(body("openai/gpt-4o-mini", stream))).text();
    expect((await caller.chat(body("openai/gpt-4o-mini+status-429+retry-after-30"))).status).toBe(429);
    const poor = await rig.gateway.token({ user: "poor", credits: 0n });
    const refused = await fetch(rig.gateway.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${poor}` },
      body: JSON.stringify(body("openai/gpt-4o-mini")),
    });
    expect(refused.status).toBe(402);
    const spent = await caller.closed();
    const samples = await scrape(rig.gateway);
    const call = { operation: "chat", provider: "openai", model: "gpt-4o-mini" };
    expect(sumOf(samples, "tollgate_calls_total", { ...call, class: "ok" })).toBe(2);
    expect(sumOf(samples, "tollgate_calls_total", { class: "rate_limited" })).toBe(1);
    expect(sumOf(samples, "tollgate_refusals_total", { operation: "chat", code: "insufficient_credits" })).toBe(1);
    expect(sumOf(samples, "tollgate_credits_total", call).toFixed(9)).toBe(Number(formatCredits(spent)).toFixed(9));
    expect(sumOf(samples, "tollgate_attempts_total", { provider: "openai", class: "ok" })).toBe(2);
    expect(sumOf(samples, "tollgate_call_seconds_count", { operation: "chat" })).toBe(3);
    expect(sumOf(samples, "tollgate_open_holds")).toBe(0);
    expect(sumOf(samples, "tollgate_commit_seconds_count")).toBeGreaterThan(0);
    expect(sumOf(samples, "tollgate_memory_limit_bytes")).toBeGreaterThan(0);
    expect(samples.some(({ name }) => name === "tollgate_price_catalog_days")).toBe(true);
  });

  test("an open call has a hold", async () => {
    const caller = await rig.caller();
    const abort = new AbortController();
    const answer = await caller.chat(body("openai/gpt-4o-mini+pace-5000", true), { signal: abort.signal });
    const samples = await scrape(rig.gateway);
    expect(sumOf(samples, "tollgate_running_calls")).toBe(1);
    expect(sumOf(samples, "tollgate_open_holds")).toBe(1);
    expect(sumOf(samples, "tollgate_held_credits")).toBeGreaterThan(0);
    abort.abort();
    await answer.text().catch(() => undefined);
    await caller.closed();
    await until("it is counted", async () =>
      sumOf(await scrape(rig.gateway), "tollgate_calls_total", { class: "abandoned" }),
    );
  });

  test("they are on their own port alone, and nothing else is on that", async () => {
    expect((await fetch(`${rig.gateway.url}/metrics`)).status).toBe(404);
    expect((await fetch(new URL("/v1/models", await urlOf(rig.gateway)))).status).toBe(404);
  });
});

test.skipIf(!hasProc)(
  "of several workers they are one sum, which does not fall when workers are killed or end",
  async () => {
    const gateway = await startGateway({
      storage: await postgres.createDatabase(),
      providers: simulatedProviders(rig.simulators),
      config: { metrics },
      arguments: ["--workers", "2"],
    });
    const token = await gateway.token();
    const ask = async (times: number): Promise<void> => {
      for (let sent = 0; sent < times; sent += 1) {
        const answer = await fetch(gateway.url + chatPath, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify(body("openai/gpt-4o-mini")),
          keepalive: false,
        });
        expect(answer.status).toBe(200);
        await answer.text();
      }
    };
    const calls = async (): Promise<number> => sumOf(await scrape(gateway), "tollgate_calls_total");
    await ask(20);
    expect(await calls()).toBe(20);
    const end = async (signal: "SIGKILL" | "SIGTERM", started: number): Promise<void> => {
      const workers = processTree(gateway.process.pid).filter(({ command }) => / worker \d+$/.test(command));
      for (const { pid } of workers) process.kill(pid, signal);
      await until(
        "they are replaced",
        () => gateway.logLines().filter(({ msg }) => msg === "worker listens").length === started,
      );
    };
    await end("SIGKILL", 4);
    expect(await calls()).toBe(20);
    await ask(5);
    expect(await calls()).toBe(25);
    // Those of a worker that ends by itself count, though nobody has asked for them since.
    await ask(5);
    await end("SIGTERM", 6);
    expect(await calls()).toBe(30);
    await gateway.stop();
  },
);
