import type { ReceivedBody } from "../../bodies/index.ts";
import {
  type CallFile,
  formatCredits,
  type GatewayError,
  isKnownGatewayFault,
  type Nano,
  type ObservedUsage,
} from "../../core/index.ts";
import type { ParkedJob } from "../../ledger/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import { durably } from "../end-hold.ts";
import { abandonedUsage, lostUsage } from "../estimate.ts";
import type { ContentSink, ContentTaker } from "../observers/content.ts";
import type { ParkedWork } from "../parked-work.ts";
import { type SentAnswer, StoredBody, storedAnswerOf } from "../retry/stored-answer.ts";
import { creditsOf } from "../work-cost.ts";
import type { Work, WorkEnd } from "../work.ts";
import { failedEnd } from "./end-of-work.ts";
import type { PaidAnswer, PaidClient, PaidRequest, WorkPlan, WorkPlanner } from "./paid-request.ts";
import type { CallWatchdog } from "./watchdog.ts";

/** The parts of a request that its work needs. */
type WorkRequest = Pick<PaidRequest, "client" | "charged" | "batched">;

export interface RunningWorkOptions {
  work: Work;
  watchdog: CallWatchdog;
  received: ReceivedBody<unknown>;
  /** Counts the body. */
  bodyMemory: MemoryShare;
  /** Counts the answer. */
  memory: MemoryShare;
  /** Takes its content; undefined if nobody wants it. */
  contents?: ContentTaker | undefined;
  /** Called once, when the work has ended. */
  onEnd: (result: WorkResult | undefined) => void;
}

/** The end of a piece of work. */
export interface WorkResult extends Omit<WorkEnd, "answer" | "files"> {
  /** The client's answer, for the work's retry key. */
  answer?: SentAnswer | undefined;
}

/** One piece of work from its hold to its end, with the parts that all ways of performing it share. */
export class RunningWork<Plan extends WorkPlan = WorkPlan, Target = unknown> {
  readonly work: Work;
  readonly watchdog: CallWatchdog;
  /** Another one once it is detached. */
  client: PaidClient;
  /** Counts its answer, until it has ended. */
  readonly memory: MemoryShare;
  /** Gets the answer too; undefined if nobody wants it. */
  readonly content: ContentSink | undefined;
  readonly #surface: WorkPlanner<unknown, Plan, Target>["surface"];
  readonly #files: readonly CallFile[] | undefined;
  readonly #ends: Pick<RunningWorkOptions, "onEnd"> & Pick<WorkRequest, "charged" | "batched">;
  /** The parts that go with the body; undefined once that is of no use. */
  #body:
    | (Pick<RunningWorkOptions, "received" | "bodyMemory"> & { way: WorkPlanner<unknown, Plan, Target> })
    | undefined;
  #ended = false;
  /**
   * Requests of an order that the upstream has received and not refused, and when the last one was sent, by the ticker's clock. Work
   * that has moved to another target has another order: the caller pays for none of those before.
   */
  #sent: { order: unknown; requests: number; at: number } | undefined;
  /** The attempts that have begun, of all requests and targets. */
  attempts = 0;
  /** Whether a job has the work: its request ends with its answer. */
  isParked = false;
  /** Whether it goes on in this process after its request has ended. */
  isDetached = false;

  constructor(way: WorkPlanner<unknown, Plan, Target>, request: WorkRequest, options: RunningWorkOptions) {
    const { work, watchdog, memory, bodyMemory, received, onEnd, contents } = options;
    this.work = work;
    this.watchdog = watchdog;
    this.client = request.client;
    this.memory = memory;
    this.content = received.kind === "json" ? contents?.open(work.order, received.bytes) : undefined;
    this.#surface = way.surface;
    this.#files = received.kind === "form" ? received.files : undefined;
    this.#ends = { onEnd, charged: request.charged, batched: request.batched };
    this.#body = { way, received, bodyMemory };
  }

  /** The id of the request, and of its work. */
  get id(): string {
    return this.work.order.id;
  }

  /**
   * Separates the work from its request: the work then runs in this process until its end, or until `client` disconnects. The caller
   * of this method must end the work and its watchdog; the shell does neither.
   */
  detach(client: PaidClient): void {
    this.isDetached = true;
    this.client = client;
    this.watchdog.waitFor(client);
  }

  /** Plans the same body for another target, as long as it is there. */
  plan(target: Target): Plan | Promise<Plan> {
    if (this.#body === undefined) throw new Error(`the body of ${this.id} is gone`);
    const { way, received, bodyMemory: memory } = this.#body;
    return way.plan(received, { retry: this.work.order.retry, memory, target });
  }

  /** The body is of no further use: an answer may stream for long. A form stays open until the work has ended. */
  freeBody(): void {
    this.#body?.bodyMemory.free();
    this.#body = undefined;
  }

  noteAttempt(): number {
    this.attempts += 1;
    return this.attempts;
  }

  /** Counts a request that was written to the upstream, or one of those that were then refused there. */
  noteSent(isSent: boolean): void {
    const { order } = this.work;
    if (this.#sent?.order !== order) this.#sent = { order, requests: 0, at: 0 };
    this.#sent.requests += isSent ? 1 : -1;
    if (isSent) this.#sent.at = this.watchdog.ticker.now();
  }

  /** The price of a request whose answer is lost, in credits; undefined if it is not known. */
  lostCredits(): string | undefined {
    return creditsOf(this.work, lostUsage(this.work.order));
  }

  /**
   * Ends the work with its whole answer, whose headers get the cost, with what other works have cost for this one (`others`,
   * in nano-credits), and the error that has ended the answer before its time. Resolves and rejects as `end` does.
   */
  async answer(
    answer: PaidAnswer & { body: Uint8Array | string },
    observed: ObservedUsage,
    { others = 0n, error }: { others?: Nano; error?: GatewayError | undefined } = {},
  ): Promise<void> {
    const { work } = this;
    const { status, headers, body } = answer;
    const cost = work.costOf(observed) + others;
    this.content?.add(Buffer.from(body));
    headers["x-tollgate-credits"] = formatCredits(cost);
    const kept = work.order.retry && { headers, body: new StoredBody().add(Buffer.from(body)) };
    const shortfall = await this.end({ status, outcome: "complete", observed, answer: kept, error });
    if (shortfall > 0n) headers["x-tollgate-credits"] = formatCredits(cost - shortfall);
  }

  /**
   * Ends the work without an answer. If its client disconnected after a request had been written, the upstream bills the
   * input, and what it has written: both are charged as far as they can be known. What an answer that was lost otherwise
   * may cost is in the log. The answer to a line of a batch is not ended by a failure of the gateway itself: the job does it again.
   */
  fail(thrown: unknown): Promise<Nano> {
    if (isKnownGatewayFault(thrown) && this.#ends.batched?.kind === "answer") {
      if (!this.#ended) this.#leave();
      this.work.leave();
      return Promise.resolve(0n);
    }
    const end = failedEnd(thrown, { hasLeft: this.watchdog.isAbandoned, hasBegun: false });
    const { order } = this.work;
    const sent = this.#sent?.order === order ? this.#sent : undefined;
    const isSent = sent !== undefined && sent.requests > 0;
    const isCharged = isSent && end.outcome === "abandoned";
    const observed = isCharged ? abandonedUsage(this.work, this.watchdog.ticker.now() - sent.at) : undefined;
    const isLost = isSent && !isCharged && end.error?.losesAnswer === true;
    return this.end({ ...end, observed, lost: isLost ? lostUsage(order) : undefined });
  }

  /**
   * Ends the work. Only the first end counts. Resolves to its shortfall, in nano-credits, when it is durable. Rejects with
   * `storage_unavailable` if it could not be made durable: the answer must not be completed then.
   */
  end(result: WorkResult): Promise<Nano> {
    if (this.#ended) return Promise.resolve(0n);
    const committed = this.work.end({ ...result, answer: this.#storedAnswerOf(result), files: this.#files });
    this.#leave(result);
    const { charged } = this.#ends;
    if (charged === undefined) return durably(committed);
    const cost = result.observed === undefined ? 0n : this.work.costOf(result.observed);
    return durably(committed).then((shortfall) => {
      charged(cost - shortfall);
      return shortfall;
    });
  }

  /** Releases the hold of work that costs nothing and leaves no record. */
  async discard(): Promise<void> {
    if (this.#ended) return;
    this.#leave();
    await this.work.discard();
  }

  #leave(result?: WorkResult): void {
    this.#ended = true;
    this.memory.free();
    this.freeBody();
    this.#ends.onEnd(result);
  }

  /** Leaves the work to a job: see `Work.park`. */
  async park(until: number, jobOf: (parked: ParkedWork) => ParkedJob): Promise<void> {
    await this.work.park(until, jobOf);
    this.isParked = true;
  }

  /** Leaves the work to a job in another database than the ledger's: see `Work.handOver`. */
  async handOver(until: number, save: (parked: ParkedWork) => Promise<void>): Promise<void> {
    await this.work.handOver(until, save);
    this.isParked = true;
  }

  #storedAnswerOf({ status, answer, outcome }: WorkResult): WorkEnd["answer"] {
    if (answer === undefined || outcome !== "complete") return undefined;
    return storedAnswerOf(status, answer, this.#surface, this.id);
  }
}
