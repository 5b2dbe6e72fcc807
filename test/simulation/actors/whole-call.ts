import { z } from "zod";
import { parseBody } from "../../../src/bodies/index.ts";
import {
  type PaidAnswer,
  type RunningWork,
  type WayOfWork,
  type WorkOrder,
  type WorkPlan,
  WorkShell,
} from "../../../src/charges/index.ts";
import { GatewayError, type Nano } from "../../../src/core/index.ts";
import type { RetryKey } from "../../../src/ledger/index.ts";
import { MemoryBudget } from "../../../src/streaming/index.ts";
import type { Node } from "../kit/node.ts";
import { codeOf, type World } from "../kit/world.ts";
import type { Actor } from "./actor.ts";

/** How long the upstream may be silent. */
const ANSWER_MS_MAX = 100_000;

/** So many tokens of an aborted text are charged for each second that it was asked for. */
const TOKENS_PER_SECOND = 50;

const wholeText = "whole";
const schema = z.looseObject({});

const principal = { user: "u", tokenId: "t", rates: undefined };

/** A request that the upstream has received; times in milliseconds since the epoch. */
interface Sent {
  at: number;
  endedAt: number;
  end: "answered" | "aborted" | "broken" | undefined;
  /** The cost that its end has. */
  cost: Nano;
}

/** A text that is answered whole: the real shell between a simulated upstream and a client that may leave. */
export class WholeCall implements Actor {
  readonly id: string;
  readonly #world: World;
  readonly #node: Node;
  readonly #key: string | undefined;
  readonly #shell: WorkShell;
  readonly #client = new AbortController();
  readonly #broken = Promise.withResolvers<never>();
  #leftAt: number | undefined;
  #sent: Sent | undefined;
  readonly #paying: { accountId: string };

  constructor(world: World, node: Node, { id, key }: { id: string; key: string | undefined }) {
    this.id = id;
    this.#world = world;
    this.#node = node;
    this.#key = key;
    this.#paying = { accountId: world.account };
    const { deps, ticker } = node;
    const body = { bytesMax: 1_000, arrivalMsMax: 1_000, ticker };
    this.#shell = new WorkShell({ work: deps, body, memory: new MemoryBudget(1_000_000) });
    // It may break off before anybody waits for it.
    this.#broken.promise.catch(() => undefined);
  }

  async run(): Promise<void> {
    const { meetings } = this.#world;
    meetings.begin(this.id, "opening");
    try {
      const { body } = await this.#shell.run(this.#request(), this.#way());
      this.#world.trace(`${this.id}: answered`);
      const text = body instanceof Uint8Array ? Buffer.from(body).toString() : body;
      this.#world.expect(text === wholeText, () => `${this.id}: the answer is not whole`);
    } catch (thrown) {
      this.#world.trace(`${this.id}: ${codeOf(thrown)}`);
      this.#world.expect(thrown instanceof GatewayError, () => `${this.id}: ${String(thrown)}`);
    }
    if (meetings.isOpen(this.id, "opening")) meetings.end(this.id, "opening");
    this.#world.expect(this.#shell.active === 0, () => `${this.id}: is over, and still counted as running`);
    this.#judge();
  }

  #request(): Parameters<WorkShell["run"]>[0] {
    return {
      requestId: this.id,
      principal: {
        ...principal,
        ...this.#paying,
        service: false,
        role: "member",
        models: undefined,
        expiresAt: undefined,
      },
      headers: new Headers(this.#key === undefined ? {} : { "idempotency-key": this.#key }),
      body: Buffer.from("{}"),
      client: this.#client,
    };
  }

  #way(): WayOfWork<z.infer<typeof schema>, WorkPlan> {
    return {
      surface: "openai",
      operation: "chat",
      form: undefined,
      parse: (bytes) => parseBody(bytes, schema, []),
      plan: (_received, { retry }) => ({ order: this.#order(retry), clientGoneGraceMs: 0 }),
      run: (running) => this.#perform(running),
    };
  }

  #order(retry: RetryKey | undefined): WorkOrder {
    const { random, price, time } = this.#world;
    const inputTokens = random.int(4, 400);
    const limit = random.pick([100, 500, 2_000, 6_000]);
    return {
      id: this.id,
      principal: { ...principal, ...this.#paying },
      operation: "chat",
      dialect: "chat",
      source: { provider: "up", model: "m", modelId: "up/m" },
      price,
      bound: { inputTokens, expectedInput: { input: inputTokens }, outputTokens: limit, choices: 1 },
      output: { wanted: limit, least: Math.min(limit, 256), limits: "if-fewer", ownLimit: limit },
      streamed: false,
      retry,
      at: time.now,
    };
  }

  /** Sends the request, and waits for the answer, as `sendUpstream` does. */
  async #perform(running: RunningWork): Promise<PaidAnswer> {
    const { meetings, random, time } = this.#world;
    const { watchdog, work } = running;
    meetings.end(this.id, "opening");
    const aborted = Promise.withResolvers<never>();
    const { signal } = watchdog.abort;
    const stop = (): void => aborted.reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", { handleEvent: stop });
    await Promise.race([this.#node.sleep(random.pick([0, 1, 50, 2_000])), aborted.promise]);
    running.noteSent(true);
    watchdog.expect(ANSWER_MS_MAX, "The upstream has not answered.");
    const sent: Sent = { at: time.now, endedAt: 0, end: undefined, cost: 0n };
    this.#sent = sent;
    meetings.begin(this.id, "answering");
    try {
      await Promise.race([this.#answer(), this.#broken.promise, aborted.promise]);
      sent.end = "answered";
    } catch (thrown) {
      sent.end = signal.aborted ? "aborted" : "broken";
      if (watchdog.isAbandoned) sent.cost = this.#costOfLeft(running, sent.at);
      throw thrown;
    } finally {
      sent.endedAt = time.now;
      meetings.end(this.id, "answering");
    }
    const { bound } = work.order;
    const output = random.int(1, work.limits.outputTokens ?? bound.outputTokens ?? 1);
    const observed = { usage: { input: bound.inputTokens, output, requests: 1 } };
    sent.cost = work.costOf(observed);
    const answer = { status: 200, headers: {}, body: wholeText };
    await running.answer(answer, observed);
    return answer;
  }

  /** Resolves when the answer has come, if it ever does. */
  #answer(): Promise<void> {
    const { meetings, random } = this.#world;
    const act = random.weighted({ answer: 12, break: 2, silence: 1 });
    const after = random.int(0, random.pick([200, 3_000, 20_000, 80_000]));
    if (act === "break") this.#node.after(after, () => this.breakOff());
    if (act !== "answer") return new Promise(() => undefined);
    return this.#node.sleep(after).then(() => meetings.happen(this.id, "upstream end"));
  }

  /** The input, and the tokens that can have been written since it was sent: at most the limit. */
  #costOfLeft({ work }: RunningWork, sentAt: number): Nano {
    const { bound } = work.order;
    const limit = work.limits.outputTokens ?? bound.outputTokens ?? 0;
    const written = Math.ceil(((this.#world.time.now - sentAt) * TOKENS_PER_SECOND) / 1_000);
    return work.costOf({ usage: { input: bound.inputTokens, output: Math.min(written, limit), requests: 1 } });
  }

  #judge(): void {
    const world = this.#world;
    const sent = this.#sent;
    const { cost } = world.know(this.id);
    if (sent === undefined) return world.expect((cost ?? 0n) === 0n, () => `${this.id}: charged, and never sent`);
    world.expect(cost === sent.cost, () => `${this.id}: ${sent.end}, and cost ${cost} instead of ${sent.cost}`);
    if (this.#leftAt === undefined || this.#key !== undefined) return;
    // The next tick notices it, if the node is not stopped.
    const noticedBy = Math.max(this.#leftAt, sent.at) + world.options.tickMs + this.#node.stoppedMs;
    world.expect(sent.endedAt <= noticedBy, () => `${this.id}: went on without its client`);
  }

  hangUp(): void {
    if (this.#leftAt !== undefined) return;
    this.#leftAt = this.#world.time.now;
    this.#world.meetings.happen(this.id, "hang-up");
    this.#client.abort();
  }

  pauseClient(): void {
    // Its client reads nothing before the end.
  }

  breakOff(): void {
    if (this.#sent === undefined || this.#sent.end !== undefined) return;
    this.#world.meetings.happen(this.id, "upstream break");
    this.#broken.reject(new GatewayError("upstream_interrupted", "The upstream has broken off."));
  }

  drain(): void {
    this.#world.meetings.happen(this.id, "drain");
    this.#shell.close();
    this.#shell.abortAll();
  }
}
