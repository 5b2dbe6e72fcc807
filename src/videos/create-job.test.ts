/** A creation that moves to its next target while its process dies, or loses its storage: one end, and at most one charge. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { z } from "zod";
import { failureOf } from "../../test/kit/failure-of.ts";
import { parseBody } from "../bodies/index.ts";
import { orderOf, WorkScene } from "../charges/__fixtures__/work-scene.ts";
import { CallWatchdog, RunningWork } from "../charges/index.ts";
import { limits } from "../core/index.ts";
import { type JobStore, openJobStore } from "../jobs/index.ts";
import { PriceBook } from "../pricing/index.ts";
import { principalOf, router as plain } from "../routing/__fixtures__/upstreams.ts";
import { BusyTargets, callTargets, ModelRouter, type Target } from "../routing/index.ts";
import { MemoryBudget } from "../streaming/index.ts";
import { askByFetch } from "../upstream/index.ts";
import { createJob } from "./create-job.ts";
import { followVideo } from "./follow-video.ts";
import type { VideoPlan } from "./plan-video.ts";
import { openVideoStore } from "./sql/open.ts";
import type { VideoStore } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";
import { VideoPolls } from "./video-polls.ts";

/** Eight seconds cost 400,000 nano-credits at OpenAI, and 800,000 at xAI. */
const prices = new PriceBook({
  operatorPrices: {
    "openai/*": { output_video_seconds: { "720p": 0.000_05 } },
    "xai/*": { output_video_seconds: { "720p": 0.000_1 } },
  },
  unpriced: "refuse",
  clock: () => 0,
});
const router = new ModelRouter(plain.routes, prices);
const principal = principalOf("u");

const planOf = (target: Target): VideoPlan => ({
  operation: "video_generation",
  isOwn: false,
  target,
  source: undefined,
  pinnedKeyId: undefined,
  body: { model: target.modelId },
  upstreamBody: "{}",
  bound: { outputVideo: { usage: { outputVideoMs: 8_000 }, variant: { size: "720p" } } },
  clientGoneGraceMs: Number.POSITIVE_INFINITY,
  order: orderOf({
    operation: "video_generation",
    dialect: undefined,
    source: { provider: target.route.prefix, model: target.model, modelId: target.modelId },
    price: target.price,
    bound: {
      inputTokens: 0,
      outputTokens: 0,
      choices: 1,
      outputVideo: { usage: { outputVideoMs: 8_000 }, variant: { size: "720p" } },
    },
  }),
});

let scene: WorkScene;
let asked: string[];
/** What the upstream that was moved to answers when it is asked for the job. */
let looked: object;
beforeEach(async () => {
  scene = await WorkScene.start();
  asked = [];
  looked = { status: "pending" };
});
afterEach(() => scene.stop());

/** When a step of the creation goes wrong: before it has done anything, or after it is durable. */
type Moment = "before" | "after";
type Wrong = (step: string, moment: Moment) => Promise<void> | undefined;

/** The object, whose methods ask first, and after they have succeeded, whether something goes wrong. */
function watched<T extends object>(inner: T, wrong: Wrong): T {
  return new Proxy(inner, {
    get(target, name: keyof T & string) {
      const method: unknown = target[name];
      if (typeof method !== "function") return method;
      return async (...parameters: unknown[]) => {
        await wrong(name, "before");
        const result: unknown = await method.apply(target, parameters);
        await wrong(name, "after");
        return result;
      };
    },
  });
}

function depsOf(wrong: Wrong): VideoDependencies & { jobs: JobStore; videos: VideoStore } {
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { hostname } = new URL(url);
    if (init.method === "GET") return Response.json(looked);
    asked.push(hostname);
    await wrong(hostname, "before");
    return hostname === "openai.test"
      ? new Response("busy", { status: 503 })
      : Response.json({ request_id: "video-1" }, { headers: { "x-request-id": "up-2" } });
  };
  const unused = (): never => {
    throw new Error("not used");
  };
  return {
    environment: {
      clock: () => scene.now,
      randomBytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)),
      randomFraction: () => 0,
      fetch: unused,
      ask: askByFetch(fetch),
      openSocket: unused,
    },
    send: {
      retries: 2,
      retryAfterMsMax: 10_000,
      connectMsMax: 10_000,
      firstByteMsMax: 60_000,
      idleMsMax: 30_000,
      totalMsMax: 600_000,
    },
    observer: {},
    ticker: scene.ticker,
    videos: watched(openVideoStore(scene.storage), wrong),
    jobs: watched(openJobStore(scene.storage), wrong),
    work: { ...scene.deps, ledger: watchedLedger(wrong) },
    router,
    busy: new BusyTargets(),
    routeLimits: {
      attempts: 4,
      deadlineMs: 3_600_000,
      attemptMsMax: 30_000,
      wholeMsMax: 300_000,
      headMsMax: 15_000,
      commit: undefined,
    },
    memory: new MemoryBudget(0),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    notifier: { check: () => undefined, ended: () => Promise.resolve() },
    polls: new VideoPolls(),
    publicUrl: "http://gateway.test",
    node: "n",
  } as unknown as VideoDependencies;
}

/** The ledger, in which only the moves of holds go wrong. */
function watchedLedger(wrong: Wrong): VideoDependencies["work"]["ledger"] {
  const { ledger } = scene;
  const submit: typeof ledger.submit = async (operation) => {
    if (operation.kind === "move") await wrong("move", "before");
    const outcome = await ledger.submit(operation);
    if (operation.kind === "move") await wrong("move", "after");
    return outcome;
  };
  return Object.assign(Object.create(ledger) as typeof ledger, {
    submit,
    enqueue: (operation: Parameters<typeof ledger.enqueue>[0]) => ledger.enqueue(operation),
  });
}

async function create(wrong: Wrong) {
  const deps = depsOf(wrong);
  const targets = callTargets({
    router,
    random: () => 0,
    busy: deps.busy,
    circuits: undefined,
    modelId: "openai/sora-2",
    operations: ["video_generation"],
    principal,
    headers: new Headers({ "x-tollgate-fallback": "xai/grok-imagine-video" }),
    session: undefined,
  });
  const first = targets?.next();
  if (targets === undefined || first === undefined) throw new Error("no targets");
  const plan = { ...planOf(first), targets };
  const work = await scene.open(plan.order);
  const client = { signal: new AbortController().signal };
  const memory = new MemoryBudget(0).share();
  const way: ConstructorParameters<typeof RunningWork<VideoPlan, Target>>[0] = {
    surface: "openai",
    plan: (_received, { target }) => planOf(target ?? first),
  };
  const parts = {
    work,
    watchdog: new CallWatchdog({ ticker: scene.ticker, abort: new AbortController(), client, clientGoneGraceMs: 0 }),
    received: parseBody(Buffer.from("{}"), z.looseObject({}), []),
    bodyMemory: memory,
    memory,
    onEnd: () => undefined,
  };
  const running = new RunningWork(way, { client }, parts);
  return createJob(deps, running, plan, new Headers());
}

/** The steps after the first target has refused, until the client has its answer. */
const steps = ["move", "rewrite", "moved", "xai.test", "created", "reschedule"] as const;
const moments = steps.flatMap((step) =>
  (["before", "after"] as const)
    .filter((moment) => step !== "xai.test" || moment === "before")
    .map((moment) => [moment, step] as const),
);

const ends = (): string[] =>
  scene.store.taken.map(({ kind }) => kind).filter((kind) => kind === "settle" || kind === "release");

test("its hold, its row and its record are the new target's, and so are its answer and its charge", async () => {
  const answer = await create(() => undefined);
  expect([answer.status, asked]).toEqual([200, ["openai.test", "xai.test"]]);
  expect(answer.headers).toMatchObject({
    "x-tollgate-provider": "xai",
    "x-tollgate-model": "xai/grok-imagine-video",
    "x-tollgate-attempts": "2",
    "x-tollgate-credits-held": "0.0008",
  });
  expect(await scene.balances()).toEqual({ charged: 0n, held: 800_000n });
  const deps = depsOf(() => undefined);
  const job = await deps.jobs.find("req_1");
  looked = { status: "done", video: { url: "https://x.test/v.mp4", duration: 8 } };
  if (job === undefined) throw new Error("no job");
  expect(await followVideo(deps, job)).toEqual({ done: true });
  expect(scene.store.taken.at(-1)).toMatchObject({
    kind: "settle",
    amount: 800_000n,
    record: {
      provider: "xai",
      upstreamRequestId: "up-2",
      attempts: [
        { number: 1, provider: "openai", class: "overloaded", status: 503 },
        { number: 2, provider: "xai", status: 200 },
      ],
    },
  });
});

describe.each(moments)("%s the step %s", (moment, step) => {
  const isThis = (one: string, at: Moment): boolean => one === step && at === moment;

  test("a process that is killed leaves one hold, which ends once", async () => {
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
    const wrong: Wrong = (one, at) => {
      if (!isThis(one, at)) return undefined;
      kill();
      return new Promise(() => undefined);
    };
    void create(wrong);
    await killed;
    scene.now += 2 * limits.videoLeaseMs;
    const deps = depsOf(() => undefined);
    const lease = { token: "t", node: "other", until: scene.now + 60_000 };
    const job = await deps.jobs.claim("req_1", lease, scene.now);
    if (job === undefined) throw new Error("no job");
    looked = { status: "done", video: { url: "https://x.test/v.mp4", duration: 8 } };
    expect(await followVideo(deps, job)).toEqual({ done: true });
    await scene.ledger.flush();
    const isCreated = step === "reschedule" || (step === "created" && moment === "after");
    expect(await scene.balances()).toEqual({ charged: isCreated ? 800_000n : 0n, held: 0n });
    expect(ends()).toEqual([isCreated ? "settle" : "release"]);
    expect((await scene.store.audit()).drifts).toEqual([]);
  });

  test("a storage that fails ends the work once, unless an upstream has the job", async () => {
    if (step === "xai.test" || step === "created" || step === "reschedule") return;
    const wrong: Wrong = (one, at) => (isThis(one, at) ? Promise.reject(new Error("the storage is gone")) : undefined);
    expect(String(await failureOf(create(wrong)))).toContain("the storage is gone");
    expect([asked, await scene.balances(), ends()]).toEqual([["openai.test"], { charged: 0n, held: 0n }, ["release"]]);
    const { jobs, videos } = depsOf(() => undefined);
    expect([await jobs.find("req_1"), await videos.find("req_1")]).toEqual([undefined, undefined]);
  });
});

test("a process that was taken for dead meanwhile asks no other upstream, and holds nothing", async () => {
  const wrong: Wrong = async (one, at) => {
    if (one !== "openai.test" || at !== "before") return;
    scene.now += 2 * limits.videoLeaseMs;
    const deps = depsOf(() => undefined);
    const lease = { token: "t", node: "other", until: scene.now + 60_000 };
    const job = await deps.jobs.claim("req_1", lease, scene.now);
    if (job === undefined) throw new Error("no job");
    await followVideo(deps, job);
    await deps.jobs.finish(job);
  };
  expect(await failureOf(create(wrong))).toMatchObject({ code: "storage_unavailable" });
  await scene.ledger.flush();
  expect([asked, await scene.balances()]).toEqual([["openai.test"], { charged: 0n, held: 0n }]);
  expect((await scene.store.audit()).drifts).toEqual([]);
});
