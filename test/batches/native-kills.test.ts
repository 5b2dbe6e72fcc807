/** `kill -9` at each request to a provider about a native batch, and while its lines are charged: each line once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import {
  type Engine,
  engines,
  expectCleanAudit,
  type Gateway,
  oneCredit,
  sharedPostgres,
  sorted,
  spentBy,
  startGateway,
  storageOn,
  until,
  userBooks,
} from "../kit/index.ts";
import { begin, clientsOf, ended, idsUpTo, letAllLapse, linesOf, resultsOf } from "./batch-scene.ts";

const postgres = sharedPostgres();

let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

/** Passes requests on to a simulator, and kills the gateway once the one that it waits for has been answered there. */
class KillingProxy {
  gateway: Gateway | undefined;
  readonly #server: Bun.Server<undefined>;
  #awaited: RegExp | undefined;
  readonly answered: string[] = [];

  constructor(target: string) {
    const { pathname } = new URL(target);
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname: asked, search } = new URL(request.url);
        const body = request.method === "GET" ? undefined : await request.arrayBuffer();
        const passed = await fetch(target + asked.slice(pathname.length) + search, {
          method: request.method,
          headers: request.headers,
          ...(body && { body }),
        });
        const answer = await passed.arrayBuffer();
        const name = `${request.method} ${asked.slice(pathname.length)}`;
        this.answered.push(name);
        if (this.#awaited?.test(name) !== true) return new Response(answer, passed);
        this.#awaited = undefined;
        this.gateway?.process.kill("SIGKILL");
        return new Response(null, { status: 503 });
      },
    });
  }

  get url(): string {
    return this.#server.url.href.replace(/\/$/, "");
  }

  killAt(request: RegExp): void {
    this.#awaited = request;
  }

  count(request: RegExp): number {
    return this.answered.filter((each) => request.test(each)).length;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }
}

const pricing = { models: { "*": { requests_kcount: 1_000 } } };

/** A gateway before one simulator, which is started again on its storage after each kill. */
class KilledGateway {
  readonly proxy: KillingProxy;
  gateway!: Gateway;
  readonly #kind: "openai" | "anthropic";
  readonly #options: { storage?: string };

  constructor(kind: "openai" | "anthropic", options: { storage?: string }) {
    this.#kind = kind;
    this.#options = options;
    this.proxy = new KillingProxy(simulators.providers[kind]);
  }

  async start(folder?: string): Promise<Gateway> {
    const path = new URL(simulators.providers[this.#kind]).pathname;
    const provider = { kind: this.#kind, base_url: this.proxy.url + path, api_key: "sk-test" };
    this.gateway = await startGateway({
      providers: { [this.#kind]: provider },
      config: { pricing, upstream: { retries: 0 } },
      ...this.#options,
      ...(folder !== undefined && { folder }),
    });
    this.proxy.gateway = this.gateway;
    return this.gateway;
  }

  async afterKill(): Promise<void> {
    await this.gateway.process.exited;
    await this.gateway.storage.close();
    await letAllLapse(await this.start(this.gateway.folder));
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    rmSync(this.gateway.folder, { recursive: true, force: true });
    await this.proxy.stop();
  }
}

const LINES = 120;

const moments = [/^POST \/files$/, /^POST \/batches$/, /^GET \/batches\/[^/?]+$/, /^GET \/files\/[^/]+\/content$/];

test.each(engines)(
  "a native batch outlives every process, on %s",
  async (engine: Engine) => {
    const scene = new KilledGateway("openai", await storageOn(engine, postgres));
    const { openai, token } = await clientsOf(await scene.start(), { user: "alice" });
    const [first, ...others] = moments;
    if (first !== undefined) scene.proxy.killAt(first);
    const { id } = await begin(openai, linesOf(idsUpTo(LINES), "openai/gpt-4o-mini"));
    for (const next of others) {
      await scene.gateway.process.exited;
      scene.proxy.killAt(next);
      await scene.afterKill();
    }
    await scene.afterKill();
    await until("lines are charged", async () => ((await userBooks(scene.gateway, "alice")).spent ?? 0n) > 0n);
    scene.gateway.process.kill("SIGKILL");
    await scene.afterKill();
    const { openai: again } = await clientsOf(scene.gateway, { user: "bob" });
    again.apiKey = token;
    const done = await ended(again, id, 120_000);
    expect(done).toMatchObject({ status: "completed", request_counts: { total: LINES, completed: LINES, failed: 0 } });
    const results = await resultsOf(again, done.output_file_id);
    expect(sorted(results.map(({ custom_id }) => custom_id))).toEqual(sorted(idsUpTo(LINES)));
    expect(await spentBy(scene.gateway, "alice")).toBe((BigInt(LINES) * oneCredit) / 2n);
    // The first upload was lost with its process; the batch was found again.
    expect({ uploads: scene.proxy.count(/^POST \/files$/), batches: scene.proxy.count(/^POST \/batches$/) }).toEqual({
      uploads: 2,
      batches: 1,
    });
    await expectCleanAudit(scene.gateway);
    await scene.stop();
  },
  300_000,
);

test("a batch that its provider does not mark is sent again after a kill, and its caller pays once", async () => {
  const scene = new KilledGateway("anthropic", {});
  const { openai, token } = await clientsOf(await scene.start(), { user: "alice" });
  scene.proxy.killAt(/^POST \/v1\/messages\/batches$/);
  const { id } = await begin(openai, linesOf(idsUpTo(3), "anthropic/claude-haiku-4-5"));
  await scene.afterKill();
  const { openai: again } = await clientsOf(scene.gateway, { user: "bob" });
  again.apiKey = token;
  expect(await ended(again, id)).toMatchObject({ status: "completed", request_counts: { completed: 3 } });
  expect(scene.proxy.count(/^POST \/v1\/messages\/batches$/)).toBe(2);
  expect(await spentBy(scene.gateway, "alice")).toBe((3n * oneCredit) / 2n);
  const lost = scene.gateway.logLines().find(({ msg }) => String(msg).startsWith("a slice of a batch is lost"));
  expect(lost).toMatchObject({ provider: "anthropic", lines: 3, nano: String((3n * oneCredit) / 2n) });
  await expectCleanAudit(scene.gateway);
  await scene.stop();
}, 300_000);
