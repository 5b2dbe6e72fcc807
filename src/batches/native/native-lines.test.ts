/**
 * Slices under kills: from a seed, the process dies before or after any write, request or end of a work, or stands still there until the
 * next run has ended, and goes on then. However that goes, each line comes to one result, and no hold is left.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openStorage } from "../../../test/kit/storage.ts";
import type { PaidRequest, ParkedWork } from "../../charges/index.ts";
import { objectOf } from "../../core/index.ts";
import { KeyPool } from "../../routing/index.ts";
import { createProvider } from "../../providers/index.ts";
import { attemptOnce, type Fetched, principalOf, worldOf } from "../../sending/__fixtures__/upstreams.ts";
import type { Storage } from "../../storage/index.ts";
import { MemoryBudget, Ticker } from "../../streaming/index.ts";
import type { BatchDependencies } from "../dependencies.ts";
import { LineTurns } from "../line-turns.ts";
import { openBatchStore } from "../sql/batch-store.ts";
import { openKeptFileStore } from "../sql/file-store.ts";
import { openSliceStore } from "../sql/slice-store.ts";
import type { StoredBatch } from "../store.ts";
import { NativeLines } from "./native-lines.ts";

const LINES = 40;
const SLICE_LINES = 9;
const SEEDS = 60;
const KILLS = 25;
const STOPS = 10;
const RUNS_MAX = 300;

const chat = "/v1/chat/completions";

let storage: Storage;
beforeAll(async () => {
  storage = await openStorage("sqlite::memory:");
});
afterAll(() => storage.close());

/** Pseudo-random numbers from a seed, evenly spread in [0, 1). */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

/** The money of all works: an open one belongs to a process, or to its slice. */
class Works {
  readonly states = new Map<string, { position: number; state: "process" | "slice" | "charged" | "released" }>();
  readonly faults: string[] = [];

  /** The holds of a process that has died run out. */
  sweep(): void {
    for (const work of this.states.values()) if (work.state === "process") work.state = "released";
  }

  /** The ledger charges no work that is released; a run that has its batch must not try to. */
  charge(id: string, { isLate }: Run): void {
    const work = this.states.get(id);
    if (work?.state === "released" && isLate) return;
    if (work?.state === "released" || work === undefined) this.faults.push(`${id} is charged after its release`);
    else work.state = "charged";
  }

  release(id: string): void {
    const work = this.states.get(id);
    if (work?.state === "charged") this.faults.push(`${id} is released after its charge`);
    else if (work !== undefined) work.state = "released";
  }
}

interface ProviderBatch {
  id: string;
  marker: string;
  lines: string[];
  endsAt: number;
  isCancelled: boolean;
}

/** OpenAI's batches, in memory. Some are refused, end without some of their lines, or lose their answers. */
class Provider {
  readonly batches: ProviderBatch[] = [];
  /** Refuses the next request to such a path. */
  refused: RegExp | undefined;
  /** Whether it knows no batch after its creation. */
  isForgetful = false;
  /** Undefined: up to half a minute. */
  lastsMs: number | undefined;
  readonly #files = new Map<string, string[]>();
  readonly #random: () => number;
  readonly #now: () => number;

  constructor(random: () => number, now: () => number) {
    this.#random = random;
    this.#now = now;
  }

  answer({ url, method, body }: Fetched): Response {
    const path = url.slice("https://openai.test".length);
    if (this.refused?.test(path) === true) {
      this.refused = undefined;
      return Response.json({ error: { message: "busy" } }, { status: 429 });
    }
    if (this.#random() < 0.05) return Response.json({ error: { message: "busy" } }, { status: 503 });
    if (path === "/files") {
      const id = `file-${this.#files.size}`;
      this.#files.set(id, body.match(/"custom_id":"line-\d+"/g) ?? []);
      return Response.json({ id });
    }
    if (method === "POST" && path === "/batches") return this.#create(body);
    if (path.startsWith("/batches?")) return Response.json({ data: this.batches.map((each) => this.#shown(each)) });
    const batch = this.isForgetful ? undefined : this.batches.find(({ id }) => path.includes(id));
    if (batch === undefined) return Response.json({ error: { message: "none" } }, { status: 404 });
    if (path.endsWith("/content")) return new Response(this.#results(batch));
    if (path.endsWith("/cancel")) batch.isCancelled = true;
    return Response.json(this.#shown(batch));
  }

  #create(body: string): Response {
    const asked = objectOf(JSON.parse(body)) ?? {};
    const marker = String(objectOf(asked["metadata"])?.["tollgate"]);
    const lines = this.#files.get(String(asked["input_file_id"])) ?? [];
    const endsAt = this.#now() + (this.lastsMs ?? Math.floor(this.#random() * 30_000));
    const batch = { id: `batch-${this.batches.length}.`, marker, lines, endsAt, isCancelled: false };
    this.batches.push(batch);
    return Response.json(this.#shown(batch));
  }

  #shown({ id, marker, endsAt, isCancelled }: ProviderBatch): object {
    const status = this.#now() < endsAt ? "in_progress" : isCancelled ? "cancelled" : "completed";
    return { id, status, metadata: { tollgate: marker }, output_file_id: status === "in_progress" ? null : id };
  }

  /** In another order; a line that was not called has an error. */
  #results({ id, lines, isCancelled }: ProviderBatch): string {
    return lines
      .toReversed()
      .map((line, index) => {
        const isCalled = (index + id.length) % 7 !== 3 && !(isCancelled && index % 2 === 1);
        const end = isCalled
          ? `"response":{"status_code":200,"body":{"id":"a"}}`
          : `"response":null,"error":{"code":"batch_expired"}`;
        return `{${line},${end}}\n`;
      })
      .join("");
  }
}

class Killed extends Error {}

/** One process that runs the batch. */
interface Run {
  isDead: boolean;
  /** Whether it stands still, or has done so: another run has the batch. */
  isLate: boolean;
  /** Resolves once it stands still. */
  stands: PromiseWithResolvers<false>;
}

/** One seed: processes that run one batch, one after the other. */
class Life {
  readonly works = new Works();
  readonly provider: Provider;
  readonly batchId: string;
  now = 1_000_000;
  /** Whether nothing happens to its processes. */
  isCalm = false;
  #kills = 0;
  #stops = 0;
  #lost = 0;
  #ids = 0;
  /** Lets the process that stands still go on. */
  #goOn: (() => void) | undefined;
  /** Its end. */
  #late: Promise<unknown> | undefined;
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.batchId = `batch_${seed}`;
    this.provider = new Provider(this.#random, () => this.now);
  }

  /** Nothing happens in a dead process. It may die here, or stand still. */
  mayDie(run: Run): Promise<void> | undefined {
    if (run.isDead) throw new Killed();
    const isCalm = this.isCalm || this.#kills >= KILLS || run.isLate;
    const fate = isCalm ? 1 : this.#random();
    if (fate > 0.03) return undefined;
    if (fate < 0.01 && this.#late === undefined && this.#stops < STOPS) return this.#standStill(run);
    this.#kills += 1;
    run.isDead = true;
    throw new Killed();
  }

  #standStill(run: Run): Promise<void> {
    this.#stops += 1;
    run.isLate = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#goOn = resolve;
    run.stands.resolve(false);
    return promise;
  }

  /** The same object, whose process may die before and after each of its calls. */
  mortal<T extends object>(target: T, run: Run): T {
    return new Proxy(target, {
      get: (own, name) => {
        const member: unknown = Reflect.get(own, name);
        if (typeof member !== "function") return member;
        return async (...values: unknown[]): Promise<unknown> => {
          await this.mayDie(run);
          const result: unknown = await Reflect.apply(member, own, values);
          await this.mayDie(run);
          return result;
        };
      },
    });
  }

  async perform({ requestId, batched, body }: PaidRequest, run: Run) {
    await this.mayDie(run);
    const position = Number(/line-(\d+)/.exec(Buffer.from(body as Uint8Array).toString())?.[1]);
    if (batched?.kind === "hold") {
      const id = `${requestId}-${(this.#ids += 1)}`;
      const work = { position, state: "process" as "process" | "slice" | "released" };
      this.works.states.set(id, work);
      const request = { model: "m", path: "/chat/completions", body: JSON.stringify({ model: "m" }) };
      const handOver = async (_until: number, save: (parked: ParkedWork) => Promise<void>): Promise<void> => {
        await save({ id, held: "1" } as ParkedWork).catch((reason: unknown) => {
          this.works.release(id);
          throw reason;
        });
        // The commit of the longer lease may be lost with the process: the hold then runs out.
        await this.mayDie(run);
        if (work.state === "process") work.state = "slice";
      };
      await batched.leave({ request, handOver });
    } else if (batched?.kind === "answer") this.works.charge(batched.work.id, run);
    await this.mayDie(run);
    return { status: 200, headers: {}, body: `{"id":"a","position":${position}}` };
  }

  dependencies(run: Run): BatchDependencies {
    const { environment } = worldOf(async (fetched) => {
      await this.mayDie(run);
      const answer = this.provider.answer(fetched);
      await this.mayDie(run);
      return answer;
    });
    const clock = (): number => this.now;
    const ticker = new Ticker(1_000, clock, { every: () => () => undefined });
    const own = { ...environment, clock, randomBytes: (size: number) => this.#bytes(size) };
    const openai = createProvider({ kind: "openai", baseUrl: "https://openai.test" });
    const { batches: api } = openai;
    if (api === undefined) throw new Error("no batches");
    const route = {
      prefix: "openai",
      aliases: [],
      provider: openai,
      baseUrl: "https://openai.test",
      keys: new KeyPool(["sk-key-of-the-upstream"], clock),
      sandbox: false,
      sharedStores: false,
      listing: { listed: [] },
      requiredVariable: undefined,
    };
    const memory = new MemoryBudget(1e9);
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const endpoint = {
      perform: (request: PaidRequest) => this.perform(request, run),
      resolve: () => undefined,
      batchedBy: () => undefined,
    };
    return {
      batches: this.mortal(openBatchStore(storage), run),
      slices: this.mortal(openSliceStore(storage), run),
      files: openKeptFileStore(storage),
      providers: {
        asking: { environment: own, send: attemptOnce, observer: {}, memory, ticker },
        find: () => ({ route, api: { ...api, linesMax: SLICE_LINES } }),
      },
      discard: async ({ id }: ParkedWork) => {
        await this.mayDie(run);
        this.works.release(id);
      },
      wake: () => undefined,
      endpoints: new Map([[chat, endpoint]]),
      turns: new LineTurns({ lines: 16, running: () => 0 }),
      memory,
      tokens: { findById: async () => ({ ...principalOf("alice"), id: "alice" }) },
      environment: own,
      ticker,
      logger: quiet,
      publicUrl: "",
      bounds: { bytesPerUserMax: 1e9, linesMax: 1e6, fileBytesMax: 1e9, lineBytesMax: 1e6, keepMs: 1e9 },
    } as unknown as BatchDependencies;
  }

  #bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => Math.floor(this.#random() * 256));
  }

  async begin(): Promise<StoredBatch> {
    const { batchId: id } = this;
    const files = openKeptFileStore(storage);
    const file = { id: `file-${id}`, owner: "alice", purpose: "batch" as const, filename: "in", isListed: true };
    const text = Array.from({ length: LINES }, (_, index) => lineAt(index)).join("");
    const kept = { ...file, bytes: text.length, parts: 1, createdAt: 0, keptUntil: 1e15 };
    await files.begin(kept, { bytes: text.length, bytesMax: 1e9 });
    await files.append(file.id, 0, Buffer.from(text));
    await files.finish(kept);
    const batches = openBatchStore(storage);
    const none = { succeeded: 0, failed: 0, cancelled: 0, expired: 0, total: 0 };
    const times = { startedAt: undefined, cancellingAt: undefined, finalizingAt: undefined, endedAt: undefined };
    const batch: StoredBatch = {
      ...none,
      ...times,
      id,
      owner: "alice",
      tokenId: "alice",
      kind: "calls",
      endpoint: chat,
      inputFileId: file.id,
      outputFileId: `${id}-output`,
      errorFileId: `${id}-errors`,
      headers: {},
      metadata: undefined,
      errors: undefined,
      usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
      completionWindow: "24h",
      webhookUrl: undefined,
      model: "openai/m",
      status: "validating",
      nativeProvider: undefined,
      nativeNext: 0,
      runToken: "",
      createdAt: this.now,
      expiresAt: this.now + 86_400_000,
      keptUntil: 1e15,
    };
    await batches.insert(batch, { id, kind: "batch", owner: "alice", payload: {}, runAt: 0, createdAt: 0 }, 1_000);
    const taken = (await batches.take(id, "first")) ?? batch;
    await batches.start(taken, { total: LINES, model: "openai/m", nativeProvider: "openai", at: this.now });
    return taken;
  }

  /** One run, after which one that stands still goes on. Resolves with whether the batch is through with its provider. */
  async run(number: number): Promise<boolean> {
    const run: Run = { isDead: false, isLate: false, stands: Promise.withResolvers() };
    const late = this.#goOn;
    const running = this.#run(run, number);
    const isThrough = await Promise.race([running, run.stands.promise]);
    if (late !== undefined) {
      late();
      await this.#late;
      this.#late = undefined;
      this.#goOn = run.isLate ? this.#goOn : undefined;
    }
    if (run.isLate) this.#late = running;
    else {
      // What the dead process has begun comes to its end.
      run.isDead = true;
      await Bun.sleep(0);
    }
    this.now += 1;
    if (this.#late === undefined) this.works.sweep();
    return isThrough && this.#late === undefined;
  }

  async #run(run: Run, number: number): Promise<boolean> {
    const deps = this.dependencies(run);
    try {
      const batch = await openBatchStore(storage).take(this.batchId, `run-${number}`);
      const file = await deps.files.find(`file-${this.batchId}`, 0);
      if (batch === undefined || file === undefined) throw new Error("no batch");
      const signal = new AbortController().signal;
      const end = await new NativeLines(deps, { batch, file, signal, lost: this.#lost }).run();
      if (run.isLate || end.kind !== "again") return end.kind === "here";
      this.#lost = end.lost;
      this.now += Math.max(end.afterMs, 1);
      return false;
    } catch {
      // The next process begins after the lease of this one.
      return false;
    }
  }
}

const lineAt = (index: number): string => {
  const body = { model: "openai/m", messages: [{ role: "user", content: `line-${index}` }] };
  return `${JSON.stringify({ custom_id: `line-${index}`, method: "POST", url: chat, body })}\n`;
};

test.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))("seed %i", async (seed) => {
  const life = new Life(seed);
  const batch = await life.begin();
  let runs = 0;
  while (!(await life.run(runs))) {
    runs += 1;
    expect(runs).toBeLessThan(RUNS_MAX);
  }
  expect(life.works.faults).toEqual([]);
  const states = [...life.works.states.values()];
  expect(states.filter(({ state }) => state === "process" || state === "slice")).toEqual([]);
  const results = await openBatchStore(storage).ended(batch);
  expect(new Set(results).size).toBe(results.length);
  const charged = states.filter(({ state }) => state === "charged").map(({ position }) => position);
  // Each charge has its result, and the other way round.
  expect(charged.toSorted((a, b) => a - b)).toEqual(results.toSorted((a, b) => a - b));
  expect(new Set(charged).size).toBe(charged.length);
  expect(await openSliceStore(storage).of(life.batchId)).toEqual([]);
  expect(results.length).toBeGreaterThan(0);
});

test("a provider that refuses a cancellation is asked for it again", async () => {
  const life = new Life(SEEDS + 1);
  life.isCalm = true;
  life.provider.lastsMs = 60_000;
  life.provider.refused = /cancel$/;
  const batch = await life.begin();
  for (let runs = 0; !(await life.run(runs)); runs += 1) {
    expect(runs).toBeLessThan(RUNS_MAX);
    if (runs === 0) await openBatchStore(storage).cancel(batch.id, life.now);
  }
  expect(life.provider.refused).toBeUndefined();
  expect(life.provider.batches.map(({ isCancelled }) => isCancelled)).not.toContain(false);
  expect(life.works.faults).toEqual([]);
});

test("a provider that loses its batches gets one slice again", async () => {
  const life = new Life(SEEDS + 2);
  life.isCalm = true;
  life.provider.isForgetful = true;
  await life.begin();
  for (let runs = 0; !(await life.run(runs)); runs += 1) expect(runs).toBeLessThan(RUNS_MAX);
  expect(life.provider.batches.length).toBe(Math.ceil(LINES / SLICE_LINES) + 1);
  expect(life.works.faults).toEqual([]);
  expect([...life.works.states.values()].filter(({ state }) => state === "slice")).toEqual([]);
});
