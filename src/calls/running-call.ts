import { type Work, type WorkEnd, storedAnswerOf, type SentAnswer } from "../charges/index.ts";
import { type CallFile, GatewayError, type Nano, type ObservedUsage, type Surface } from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import type { CallWatchdog } from "../sending/index.ts";
import type { MemoryShare } from "../streaming/index.ts";
import type { CallClient, IncomingCall } from "./incoming-call.ts";

export interface RunningCallParts {
  work: Work;
  target: Target;
  surface: Surface;
  watchdog: CallWatchdog;
  client: CallClient;
  /** The client's headers. */
  headers: Headers;
  /** Counts its answer, until the call has ended. */
  memory: MemoryShare;
  /** Files of a form. */
  files: readonly CallFile[] | undefined;
  /** Sends the requests in place of the process's client. */
  ask?: IncomingCall["ask"];
  /** Called once, when the call has ended. */
  onEnd: () => void;
}

/** The outcome of a call. */
export interface CallResult extends Omit<WorkEnd, "answer" | "files"> {
  observed?: ObservedUsage;
  error?: GatewayError | undefined;
  /** The client's answer, for the call's retry key. */
  answer?: SentAnswer | undefined;
}

/**
 * One running call, from its hold to its end: the parts shared by all ways of answering it. The body is released once
 * it has been sent, because a stream may stay open for long.
 */
export class RunningCall {
  readonly parts: RunningCallParts;
  #ended = false;
  /** Requests that the upstream has received and not failed. */
  #requestsSent = 0;

  constructor(parts: RunningCallParts) {
    this.parts = parts;
  }

  /** The id of the request, and of its work. */
  get id(): string {
    return this.parts.work.order.id;
  }

  /** Counts a request that was written to the upstream, or one of those that then failed there. */
  noteSent(isSent: boolean): void {
    this.#requestsSent += isSent ? 1 : -1;
  }

  /** Whether the upstream has received a request that it may bill although its answer is missing. */
  get hasSentRequest(): boolean {
    return this.#requestsSent > 0;
  }

  /**
   * Ends the work. Only the first end counts. Resolves to its shortfall, in nano-credits, when it is durable. Rejects with
   * `storage_unavailable` if it could not be made durable: the answer must not be completed then.
   */
  async end(result: CallResult): Promise<Nano> {
    if (this.#ended) return 0n;
    const { work, files, memory, onEnd } = this.parts;
    const committed = work.end({ ...result, answer: this.#storedAnswerOf(result), files });
    this.#ended = true;
    memory.free();
    onEnd();
    const { isDurable, shortfall } = await committed;
    if (!isDurable) throw new GatewayError("storage_unavailable", "The charge can't be written.");
    return shortfall;
  }

  #storedAnswerOf({ status, answer, outcome }: CallResult): WorkEnd["answer"] {
    if (answer === undefined || outcome !== "complete") return undefined;
    return storedAnswerOf(status, answer, this.parts.surface, this.id);
  }
}
