/** The shell, around a way of work whose steps the test lets go on one by one. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { z } from "zod";
import { parseBody, type ParsedBody, type ReceivedBody } from "../../bodies/index.ts";
import { GatewayError, type ObservedUsage } from "../../core/index.ts";
import type { StoredAnswer } from "../../ledger/index.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import { credits, heldByOrder, orderOf, refusalOf, tickMs, WorkScene } from "../__fixtures__/work-scene.ts";
import type { ParkedWork } from "../parked-work.ts";
import type { PaidAnswer, PaidRequest, Planning, WorkPlan } from "./paid-request.ts";
import type { RunningWork } from "./running-work.ts";
import type { WayOfWork } from "./way-of-work.ts";
import { WorkShell } from "./work-shell.ts";

type Step = "parse" | "plan" | "run";

let scene: WorkScene;
let memory: MemoryBudget;
let shell: WorkShell;
beforeEach(async () => {
  scene = await WorkScene.start();
  memory = new MemoryBudget(1e9);
  shell = new WorkShell({
    work: scene.deps,
    memory,
    body: { bytesMax: 1e6, arrivalMsMax: 60_000, ticker: scene.ticker },
  });
});
afterEach(() => scene.stop());

const observed: ObservedUsage = { usage: { input: 10, output: 5 } };
const cost = 20_000n;
const schema = z.looseObject({});
type Body = z.infer<typeof schema>;

/** A way that waits at one step until the test goes on or it is ended, and answers with the body then. */
class PausedWay implements WayOfWork<Body, WorkPlan, string> {
  readonly surface = "openai";
  readonly operation = "render";
  readonly form = undefined;
  readonly reached = Promise.withResolvers<void>();
  readonly goOn = Promise.withResolvers<void>();
  usage = observed;
  begun = 0;
  running: RunningWork<WorkPlan, string> | undefined;
  readonly #at: Step | undefined;
  readonly #id: string;

  constructor(at?: Step, id = "req_1") {
    this.#at = at;
    this.#id = id;
  }

  async parse(bytes: Uint8Array): Promise<ParsedBody<Body>> {
    await this.pause("parse");
    return parseBody(bytes, schema, []);
  }

  async plan(_received: ReceivedBody<Body>, { retry }: Planning<string>): Promise<WorkPlan> {
    await this.pause("plan");
    return { order: orderOf({ id: this.#id, retry }), clientGoneGraceMs: 0 };
  }

  async run(running: RunningWork<WorkPlan, string>): Promise<PaidAnswer> {
    this.begun += 1;
    this.running = running;
    running.noteSent(true);
    const { signal } = running.watchdog.abort;
    signal.addEventListener("abort", { handleEvent: () => this.goOn.reject(signal.reason) });
    await this.pause("run");
    const answer = { status: 200, headers: { a: "b" } as Record<string, string>, body: "done" };
    await running.answer(answer, this.usage);
    return answer;
  }

  protected async pause(step: Step): Promise<void> {
    if (step !== this.#at) return;
    this.reached.resolve();
    await this.goOn.promise;
  }
}

interface Asked {
  key?: string;
  body?: string;
  signal?: AbortSignal;
}

function requestOf({ key, body = "{}", signal = new AbortController().signal }: Asked = {}): PaidRequest {
  return {
    requestId: "req_1",
    principal: {
      ...orderOf().principal,
      service: false,
      role: "member",
      models: undefined,
      rates: undefined,
      expiresAt: undefined,
    },
    headers: new Headers(key === undefined ? {} : { "idempotency-key": key }),
    body: Buffer.from(body),
    client: { signal },
  };
}

const outcomes = (): string[] => scene.ended.map(({ record }) => record.outcome);

describe("a hang-up", () => {
  test.each<Step>(["parse", "plan"])("during %s is noticed once there is something to end", async (step) => {
    const client = new AbortController();
    const way = new PausedWay(step);
    const performed = shell.run(requestOf({ signal: client.signal }), way);
    await way.reached.promise;
    client.abort();
    await scene.tick(tickMs);
    way.goOn.resolve();
    // Its answer comes before the next tick.
    expect(await performed).toMatchObject({ status: 200 });
    expect([outcomes(), shell.active]).toEqual([["complete"], 0]);
  });

  test("while it runs abandons it: what was sent is billed", async () => {
    const client = new AbortController();
    const way = new PausedWay("run");
    const performed = refusalOf(shell.run(requestOf({ signal: client.signal }), way));
    await way.reached.promise;
    expect(shell.active).toBe(1);
    client.abort();
    await scene.tick(tickMs);
    await performed;
    expect([outcomes(), shell.active, memory.used]).toEqual([["abandoned"], 0, 0]);
    expect(await scene.balances()).toEqual({ charged: 25_000n, held: 0n });
  });

  test("while it runs, with nothing sent, costs nothing", async () => {
    const client = new AbortController();
    const way = new PausedWay("run");
    const performed = refusalOf(shell.run(requestOf({ signal: client.signal }), way));
    await way.reached.promise;
    way.running?.noteSent(false);
    client.abort();
    await scene.tick(tickMs);
    await performed;
    expect(outcomes()).toEqual(["abandoned"]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("of a request with a retry key changes nothing: its answer is there for the next one", async () => {
    const client = new AbortController();
    const way = new PausedWay("run");
    const performed = shell.run(requestOf({ key: "k", signal: client.signal }), way);
    await way.reached.promise;
    client.abort();
    await scene.tick(60_000);
    way.goOn.resolve();
    await performed;
    expect(await shell.run(requestOf({ key: "k" }), new PausedWay(undefined, "req_2"))).toMatchObject({
      headers: { a: "b", "idempotent-replayed": "true", "x-tollgate-first-request-id": "req_1" },
      body: Uint8Array.from(Buffer.from("done")),
    });
    expect(outcomes()).toEqual(["complete"]);
  });
});

describe("a stop", () => {
  test.each<Step>(["parse", "plan"])("during %s refuses the request before it costs anything", async (step) => {
    const way = new PausedWay(step);
    const performed = refusalOf(shell.run(requestOf(), way));
    await way.reached.promise;
    shell.close();
    way.goOn.resolve();
    expect((await performed).code).toBe("shutting_down");
    expect([scene.ended, shell.active, way.begun]).toEqual([[], 0, 0]);
  });

  test("waits for what runs, and interrupts it at last", async () => {
    const way = new PausedWay("run");
    const performed = refusalOf(shell.run(requestOf(), way));
    await way.reached.promise;
    shell.close();
    await scene.tick(tickMs);
    expect(shell.active).toBe(1);
    shell.abortAll();
    expect((await performed).code).toBe("shutting_down");
    expect([outcomes(), shell.active]).toEqual([["interrupted"], 0]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });
});

describe("a retry key", () => {
  test("is in use while the first request runs, and another body's is refused", async () => {
    const way = new PausedWay("run");
    const performed = shell.run(requestOf({ key: "k" }), way);
    await way.reached.promise;
    const again = await refusalOf(shell.run(requestOf({ key: "k" }), new PausedWay(undefined, "req_2")));
    expect([again.status, again.code, again.retryAfterSeconds]).toEqual([409, "idempotency_key_in_use", 1]);
    way.goOn.resolve();
    await performed;
    const other = new PausedWay(undefined, "req_3");
    expect((await refusalOf(shell.run(requestOf({ key: "k", body: "[]" }), other))).code).toBe("validation_failed");
    expect((await refusalOf(shell.run(requestOf({ key: "k", body: `{"a":1}` }), other))).code).toBe(
      "idempotency_key_reused",
    );
    expect([other.begun, shell.active]).toEqual([0, 0]);
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("that is known is answered although the request would be refused by now", async () => {
    const gone = new PausedWay("plan", "req_2");
    gone.goOn.promise.catch(() => undefined);
    gone.goOn.reject(new GatewayError("model_not_routed", "gone"));
    expect((await refusalOf(shell.run(requestOf({ key: "k" }), gone))).code).toBe("model_not_routed");
    const way = new PausedWay("run");
    const performed = shell.run(requestOf({ key: "k" }), way);
    await way.reached.promise;
    expect((await refusalOf(shell.run(requestOf({ key: "k" }), gone))).code).toBe("idempotency_key_in_use");
    way.goOn.resolve();
    await performed;
    expect(await shell.run(requestOf({ key: "k" }), gone)).toMatchObject({
      status: 200,
      headers: { "idempotent-replayed": "true", "x-tollgate-first-request-id": "req_1" },
    });
    const other = await refusalOf(shell.run(requestOf({ key: "k", body: `{"a":1}` }), gone));
    expect(other.code).toBe("idempotency_key_reused");
    expect((await refusalOf(shell.run(requestOf({ key: "l" }), gone))).code).toBe("model_not_routed");
    expect([gone.begun, shell.active]).toEqual([0, 0]);
  });

  test("is free again after a failure", async () => {
    const way = new PausedWay("run");
    const performed = refusalOf(shell.run(requestOf({ key: "k" }), way));
    await way.reached.promise;
    way.goOn.reject(new GatewayError("upstream_invalid_answer", "no"));
    await performed;
    expect(outcomes()).toEqual(["failed"]);
    expect(await shell.run(requestOf({ key: "k" }), new PausedWay(undefined, "req_2"))).toMatchObject({ status: 200 });
  });
});

describe("an answer that is stored ahead of its job", () => {
  /** The start of a job, which is created when the test goes on. */
  class StartOfJob extends PausedWay {
    readonly jobs: Set<string>;

    constructor(jobs: Set<string>, at?: Step, id?: string) {
      super(at, id);
      this.jobs = jobs;
    }

    override async plan(received: ReceivedBody<Body>, planning: Planning<string>): Promise<WorkPlan> {
      const planned = await super.plan(received, planning);
      const { id } = planned.order;
      const answer = { status: 200, headers: [], body: Buffer.from(id) };
      return { ...planned, ahead: { answer, until: scene.now + 1e9 } };
    }

    hasJob({ body }: StoredAnswer): Promise<boolean> {
      return Promise.resolve(this.jobs.has(Buffer.from(body).toString()));
    }

    override async run(running: RunningWork<WorkPlan, string>): Promise<PaidAnswer> {
      try {
        await this.pause("run");
        this.jobs.add(running.id);
        return { status: 200, headers: {}, body: running.id };
      } finally {
        await running.discard();
      }
    }
  }

  const bodyOf = ({ body }: PaidAnswer): string => Buffer.from(body as Uint8Array).toString();

  test("is in use until the job is there, and answered from then on", async () => {
    const jobs = new Set<string>();
    const way = new StartOfJob(jobs, "run");
    const performed = shell.run(requestOf({ key: "k" }), way);
    await way.reached.promise;
    const again = await refusalOf(shell.run(requestOf({ key: "k" }), new StartOfJob(jobs, undefined, "req_2")));
    expect([again.code, again.retryAfterSeconds]).toEqual(["idempotency_key_in_use", 1]);
    way.goOn.resolve();
    await performed;
    const later = await shell.run(requestOf({ key: "k" }), new StartOfJob(jobs, undefined, "req_3"));
    expect([bodyOf(later), later.headers["x-tollgate-first-request-id"]]).toEqual(["req_1", "req_1"]);
    expect([scene.ended, shell.active]).toEqual([[], 0]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("leaves a free key if the job never came to be, or is gone", async () => {
    const jobs = new Set<string>();
    const way = new StartOfJob(jobs, "run");
    const performed = refusalOf(shell.run(requestOf({ key: "k" }), way));
    await way.reached.promise;
    way.goOn.reject(new GatewayError("rate_limit_exceeded", "too many"));
    await performed;
    expect(bodyOf(await shell.run(requestOf({ key: "k" }), new StartOfJob(jobs, undefined, "req_2")))).toBe("req_2");
    jobs.clear();
    const racing = await Promise.allSettled(
      ["req_3", "req_4"].map((id) => shell.run(requestOf({ key: "k" }), new StartOfJob(jobs, undefined, id))),
    );
    expect(jobs.size).toBe(1);
    expect(racing.map(({ status }) => status)).toContain("fulfilled");
    expect([scene.ended, shell.active]).toEqual([[], 0]);
  });
});

test("a shortfall is left out of the answer's cost", async () => {
  const way = new PausedWay();
  way.usage = { usage: { output: 600_000 } };
  const { headers } = await shell.run(requestOf(), way);
  expect(headers["x-tollgate-credits"]).toBe("0.001");
  expect(await scene.balances()).toEqual({ charged: credits, held: 0n });
});

test("an answer is not sent before its charge is durable", async () => {
  const way = new PausedWay("run");
  const performed = refusalOf(shell.run(requestOf(), way));
  await way.reached.promise;
  expect(await scene.balances()).toEqual({ charged: 0n, held: heldByOrder });
  scene.store.failure = new Error("away");
  // Nor can the journal be written.
  writeFileSync(scene.journalDirectory, "");
  way.goOn.resolve();
  expect((await performed).code).toBe("storage_unavailable");
  scene.store.failure = undefined;
  await scene.tick(tickMs);
  expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
});

describe("the answer to a line of a batch", () => {
  const hour = 3_600_000;
  const line = { ...requestOf(), batched: undefined };

  async function held(): Promise<ParkedWork> {
    const saved = Promise.withResolvers<ParkedWork>();
    class HeldWay extends PausedWay {
      override async run(running: RunningWork<WorkPlan, string>): Promise<PaidAnswer> {
        await running.handOver(scene.now + hour, async (work) => saved.resolve(work));
        return { status: 202, headers: {}, body: "" };
      }
    }
    await shell.run(line, new HeldWay());
    return saved.promise;
  }

  const answering = (work: ParkedWork): PaidRequest => ({
    ...line,
    batched: { kind: "answer", work, reply: { status: 200, text: "{}", keyId: "" } },
  });

  test("keeps its hold over a failure of the gateway itself, and is charged the next time", async () => {
    const work = await held();
    const failing = new PausedWay("run");
    failing.goOn.promise.catch(() => undefined);
    failing.goOn.reject(new GatewayError("memory_exhausted", "no memory"));
    expect((await refusalOf(shell.run(answering(work), failing))).code).toBe("memory_exhausted");
    expect([outcomes(), shell.active, memory.used]).toEqual([[], 0, 0]);
    expect((await scene.balances()).held).toBeGreaterThan(0n);
    expect(await shell.run(answering(work), new PausedWay())).toMatchObject({ status: 200 });
    expect(await scene.balances()).toEqual({ charged: cost, held: 0n });
  });

  test("is free if it can't be read", async () => {
    const work = await held();
    const failing = new PausedWay("run");
    failing.goOn.promise.catch(() => undefined);
    failing.goOn.reject(new GatewayError("upstream_invalid_answer", "unreadable"));
    await refusalOf(shell.run(answering(work), failing));
    expect([outcomes(), shell.active]).toEqual([["failed"], 0]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });
});
