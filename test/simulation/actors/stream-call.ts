import { openWork, resolveUsage, StoredBody, Work, type WorkOrder } from "../../../src/charges/index.ts";
import { HeldBody, relayStream, type StreamEnd, StreamUsage } from "../../../src/calls/index.ts";
import {
  bytesOfTokens,
  CallAborter,
  GatewayError,
  limits,
  mostBytesOf,
  type Nano,
  type ReplyBody,
  shuttingDown,
  tokensOfBytes,
} from "../../../src/core/index.ts";
import { firstContentOf } from "../../../src/dialects/index.ts";
import type { Node } from "../kit/node.ts";
import { codeOf, type World } from "../kit/world.ts";
import type { Actor } from "./actor.ts";
import {
  contentReader,
  errorEvent,
  headEvent,
  lastEvent,
  MeasuredObserver,
  textEvent,
  usageEvent,
} from "./measured-observer.ts";
import { createdText } from "./parked-job.ts";
import { UpstreamBody } from "./upstream-body.ts";

const IDLE_MS_MAX = 60_000;

interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** The upstream's act after its last text. */
type UpstreamEnd = "complete" | "complete, stays open" | "no last event" | "break" | "error event" | "silence";

const heldUntilContent = (body: ReplyBody): HeldBody =>
  new HeldBody(body, {
    content: firstContentOf(contentReader),
    endsAtRefusal: false,
    commit: undefined,
    onBegun: () => undefined,
  });

export interface StreamPlan {
  id: string;
  retry: WorkOrder["retry"];
}

/** A streamed call: the real relay and charge between a simulated upstream and a simulated client. */
export class StreamCall implements Actor {
  readonly id: string;
  readonly #world: World;
  /** It pays from the first request on, wherever its user moves. */
  #accountId: string | undefined;
  readonly #node: Node;
  readonly #retry: WorkOrder["retry"];
  readonly #abort = new CallAborter();
  readonly #leaving = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #reader: Reader | undefined;
  #hasHungUp = false;
  #pausesNext = false;
  #body: UpstreamBody | undefined;
  #relayed = "";

  constructor(world: World, node: Node, { id, retry }: StreamPlan) {
    this.id = id;
    this.#world = world;
    this.#node = node;
    this.#retry = retry;
  }

  async run(): Promise<void> {
    const { meetings } = this.#world;
    const order = this.#order("up");
    let work: Awaited<ReturnType<typeof openWork>>;
    meetings.begin(this.id, "opening");
    try {
      work = await openWork(this.#node.deps, order);
    } catch (thrown) {
      this.#world.trace(`${this.id}: refused, ${codeOf(thrown)}`);
      this.#world.expect(thrown instanceof GatewayError, () => `${this.id}: ${String(thrown)}`);
      return;
    } finally {
      meetings.end(this.id, "opening");
    }
    if (!(work instanceof Work)) {
      const { firstId, answer } = work;
      const text = Buffer.from(answer.body).toString("latin1");
      return this.#world.expect(
        text.endsWith(lastEvent) || text === createdText,
        () => `${this.id}: the stored answer of ${firstId} is not whole`,
      );
    }
    const hasTarget = await this.#moveOn(work);
    if (!hasTarget) return;
    if (this.#hasHungUp && this.#retry === undefined) {
      const observed = { usage: { input: work.order.bound.inputTokens, requests: 1 } };
      await work.end({ status: 499, outcome: "abandoned", observed });
      return;
    }
    if (this.#abort.aborted) {
      await work.end({ status: 503, outcome: "interrupted" });
      return;
    }
    await Promise.all([this.#relay(work), this.#ended.promise]);
  }

  /** Attempts that fail before anything passes, each followed by another target. Returns whether there was one. */
  async #moveOn(work: Work): Promise<boolean> {
    const { meetings, random } = this.#world;
    for (let targets = random.pick([0, 0, 0, 0, 0, 0, 0, 1, 1, 2]); targets > 0; targets -= 1) {
      await this.#failedAttempt();
      if (this.#abort.aborted) return true;
      meetings.begin(this.id, "move");
      try {
        const moved = await work.moveTo(this.#order(random.chance(0.7) ? "dear" : "up"));
        this.#world.trace(`${this.id}: ${moved}`);
      } catch (thrown) {
        this.#world.trace(`${this.id}: not moved, ${codeOf(thrown)}`);
        await work.end({ status: 503, outcome: "interrupted" });
        return false;
      } finally {
        meetings.end(this.id, "move");
      }
    }
    return true;
  }

  /** An attempt that fails without a head, or after it, while its stream is held. */
  async #failedAttempt(): Promise<void> {
    const { meetings, random } = this.#world;
    if (random.chance(0.4)) return this.#node.sleep(random.pick([1, 200, 5_000, 40_000]));
    const body = this.#newBody();
    const end = random.weighted({ break: 3, "error event": 2, "no content": 2 });
    this.#node.after(random.int(0, 500), () => body.send(Buffer.from(headEvent)));
    this.#node.after(random.pick([1, 200, 5_000, 40_000]), () => {
      meetings.happen(this.id, end === "break" ? "upstream break" : "upstream end");
      if (end === "break") body.fail(new Error("cut off"));
      else if (end === "no content") body.end();
      else body.send(Buffer.from(errorEvent));
    });
    const isPassing = await this.#hold(heldUntilContent(body));
    this.#world.expect(!isPassing, () => `${this.id}: a stream without content has passed`);
    body.cancel();
  }

  /** Holds a stream until its first content. Resolves with whether it has any. */
  async #hold(held: HeldBody): Promise<boolean> {
    const { meetings } = this.#world;
    meetings.begin(this.id, "holding");
    const { kind } = await held.hold();
    meetings.end(this.id, "holding");
    return kind === "passing";
  }

  #newBody(): UpstreamBody {
    const body = new UpstreamBody(this.#abort, this.#world.random.int(0, 2), () => this.#flows());
    this.#body = body;
    return body;
  }

  #order(provider: "up" | "dear"): WorkOrder {
    const { random, price, dearPrice, time } = this.#world;
    const wanted = random.pick([150, 400, 1_000, 2_048]);
    const ownLimit = random.chance(0.4) ? wanted : undefined;
    const inputTokens = random.int(1, 200);
    return {
      id: this.id,
      principal: { user: "u", tokenId: "t", accountId: (this.#accountId ??= this.#world.account), rates: undefined },
      operation: "chat",
      dialect: "chat",
      source: { provider, model: "m", modelId: `${provider}/m` },
      price: provider === "dear" ? dearPrice : price,
      bound: { inputTokens, expectedInput: { input: inputTokens }, outputTokens: ownLimit, choices: 1 },
      output: { wanted, least: Math.min(wanted, 100), limits: "never", ownLimit },
      streamed: true,
      retry: this.#retry,
      at: time.now,
    };
  }

  async #relay(work: Work): Promise<void> {
    const { meetings } = this.#world;
    const { bound } = work.order;
    const observer = new MeasuredObserver(bound.inputTokens, (before) => this.#checkPassing(work, before));
    const body = await this.#begin(work, observer);
    if (body === undefined) return this.#ended.resolve();
    const usage = new StreamUsage({
      observer,
      read: () => {
        this.#world.countCall();
        return resolveUsage(work, { upstream: observer.usage, outputBytes: () => observer.outputBytes });
      },
      onFailure: (reason) => this.#world.find(`${this.id}: usage unknown, ${String(reason)}`),
    });
    work.meter(
      () => usage.soFar(),
      (error) => {
        meetings.happen(this.id, "exhaustion");
        this.#abort.abort(error);
      },
    );
    const recorder = this.#retry === undefined ? undefined : new StoredBody();
    const stream = relayStream(body, {
      observer,
      events: { bytesMax: limits.eventBytesMax, errorEvent: () => errorEvent },
      abort: this.#abort,
      ticker: this.#node.ticker,
      idleMsMax: IDLE_MS_MAX,
      client: { signal: this.#leaving.signal },
      recorder,
      firstAllowance: work.firstAllowance,
      follow: (bytes) => this.#follow(work, bytes),
      redact: (text) => text,
      onFirstByte: () => work.firstByte(),
      onEnd: (outcome, error) => this.#end(work, { outcome, error, usage, recorder }),
    });
    const reader: Reader = stream.getReader();
    this.#reader = reader;
    if (this.#hasHungUp)
      void reader.cancel().catch((reason: unknown) => this.#world.find(`${this.id}: ${String(reason)}`));
    await this.#read(reader);
  }

  /** The last target's stream, which another target may have held until its content; undefined if it is lost, and the work has ended. */
  async #begin(work: Work, observer: MeasuredObserver): Promise<ReplyBody | undefined> {
    const body = this.#newBody();
    this.#plan(body, observer);
    if (!this.#world.random.chance(0.3)) return body;
    const held = heldUntilContent(body);
    if (await this.#hold(held)) return held;
    body.cancel();
    await work.end({ status: 502, outcome: this.#abort.aborted ? "interrupted" : "failed" });
    return undefined;
  }

  #checkPassing(work: Work, bytesBefore: number): void {
    const { bound, output: { ownLimit } = {} } = work.order;
    const costOf = (output: number): Nano => work.costOf({ usage: { input: bound.inputTokens, output, requests: 1 } });
    // The part of a token that has passed counts with the next one.
    const tokens = tokensOfBytes(bytesBefore - (bytesBefore % bytesOfTokens(1)));
    const isWithin = ownLimit !== undefined && bytesBefore <= mostBytesOf(ownLimit);
    this.#world.checkPassing(this.id, costOf(tokens), isWithin ? costOf(ownLimit) : undefined);
  }

  #follow(work: Work, bytes: number): ReturnType<Work["follow"]> {
    const { meetings } = this.#world;
    const allowance = work.follow(bytes);
    if (allowance.raised !== undefined && !meetings.isOpen(this.id, "held back")) meetings.begin(this.id, "held back");
    return allowance;
  }

  #flows(): void {
    const { meetings } = this.#world;
    if (meetings.isOpen(this.id, "held back")) meetings.end(this.id, "held back");
  }

  async #end(
    work: Work,
    {
      outcome,
      error,
      usage,
      recorder,
    }: {
      outcome: StreamEnd;
      error: GatewayError | undefined;
      usage: StreamUsage;
      recorder: StoredBody | undefined;
    },
  ): Promise<void> {
    const used = usage.soFar();
    const isCharged =
      outcome === "complete" || outcome === "abandoned" || (outcome === "interrupted" && usage.hasOutput);
    const answer = recorder && { status: 200, headers: [], body: recorder.bytes() };
    const end = { status: 200, outcome, error };
    this.#world.trace(`${this.id}: ${outcome}${error === undefined ? "" : `, ${error.code}`}`);
    try {
      const { isDurable } = await work.end(isCharged ? { ...end, observed: used, answer } : end);
      if (!isDurable) throw new GatewayError("storage_unavailable", "The charge can't be written.");
    } finally {
      this.#flows();
      this.#ended.resolve();
    }
  }

  /** Plans the upstream's events: the times come from the seed, whatever the relay does with them. */
  #plan(body: UpstreamBody, observer: MeasuredObserver): void {
    const { random, meetings } = this.#world;
    const isFat = random.chance(0.1);
    const count = isFat ? random.int(10, 30) : random.int(3, 60);
    const gap = random.pick([5, 40, 250, 1_500]);
    const end = random.weighted<UpstreamEnd>({
      complete: 12,
      "complete, stays open": 2,
      "no last event": 1,
      break: 3,
      "error event": 1,
      silence: 1,
    });
    let at = random.int(0, 500);
    for (let index = 0; index < count; index += 1) {
      const bytes = isFat ? random.int(20_000, 60_000) : random.int(100, 400);
      this.#node.after(at, () => body.send(textEvent(bytes)));
      at += random.int(0, gap);
    }
    const happen = (what: "upstream end" | "upstream break", run: () => void): void =>
      void this.#node.after(at, () => {
        meetings.happen(this.id, what);
        run();
      });
    const reportsUsage = random.chance(0.5);
    if (end === "break") happen("upstream break", () => body.fail(new Error("cut off")));
    else if (end === "no last event") happen("upstream end", () => body.end());
    else if (end !== "silence") {
      happen("upstream end", () => {
        if (reportsUsage) body.send(Buffer.from(usageEvent(tokensOfBytes(observer.outputBytes))));
        body.send(Buffer.from(end === "error event" ? errorEvent : lastEvent));
        if (end !== "complete, stays open") body.end();
      });
    }
  }

  async #read(reader: Reader): Promise<void> {
    const { random, meetings } = this.#world;
    const pauses = random.pick([0, 0, 0.05, 0.3]);
    const pauseMs = random.pick([50, 1_000, 8_000]);
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || value === undefined) break;
        this.#receive(Buffer.from(value).toString("latin1"));
        if (!this.#pausesNext && !random.chance(pauses)) continue;
        this.#pausesNext = false;
        meetings.begin(this.id, "client pause");
        await this.#node.sleep(random.int(1, pauseMs));
        meetings.end(this.id, "client pause");
      }
    } catch (thrown) {
      this.#world.trace(`${this.id}: broken off, ${codeOf(thrown)}`);
    }
  }

  #receive(text: string): void {
    this.#relayed = (this.#relayed + text).slice(-lastEvent.length);
    if (this.#relayed !== lastEvent) return;
    this.#world.trace(`${this.id}: the client has everything`);
    this.#world.expect(
      this.#node.isDurable(this.id),
      () => `${this.id}: complete for its client before it was charged`,
    );
  }

  hangUp(): void {
    if (this.#hasHungUp) return;
    this.#hasHungUp = true;
    this.#world.meetings.happen(this.id, "hang-up");
    this.#leaving.abort();
    if (this.#reader === undefined) return;
    void this.#reader.cancel().catch((reason: unknown) => this.#world.find(`${this.id}: ${String(reason)}`));
  }

  pauseClient(): void {
    this.#pausesNext = true;
  }

  breakOff(): void {
    if (this.#body === undefined) return;
    this.#world.meetings.happen(this.id, "upstream break");
    this.#body.fail(new Error("cut off"));
  }

  drain(): void {
    this.#world.meetings.happen(this.id, "drain");
    this.#abort.abort(shuttingDown());
  }
}
