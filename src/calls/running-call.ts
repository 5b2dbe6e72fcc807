import { type CallFile, formatCredits, type GatewayError, type ObservedUsage } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { CallBound } from "../dialects/index.ts";
import type { CallRecord, KeptAnswer, RetryKey } from "../ledger/index.ts";
import type { Target } from "../routing/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { logCall } from "./call-log.ts";
import type { Charge, Ending } from "./charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { Patience } from "./patience.ts";
import { keptAnswer, type SentAnswer } from "./retry-key.ts";

/** A request that has been authenticated. */
export interface IncomingCall {
  request: Request;
  requestId: string;
  principal: Principal;
}

export interface RunningCallParts<Body extends ChargeableBody> {
  incoming: IncomingCall;
  route: ChargeableRoute<Body>;
  /** Whether the client wants a stream. */
  streamed: boolean;
  bound: CallBound;
  /** What came with a form. */
  files: readonly CallFile[] | undefined;
  /** Undefined for a call that is not answered a second time. */
  retry: RetryKey | undefined;
  target: Target;
  charge: Charge;
  patience: Patience;
  /** By the performance clock. */
  startedAt: number;
  /** Since the epoch. */
  at: number;
  logger: Logger;
  /** Told once, when the call has ended. */
  onEnd: () => void;
}

/** How a call ended. */
export interface CallResult {
  status: number;
  outcome: CallRecord["outcome"];
  /** Undefined where nothing is charged. */
  observed?: ObservedUsage;
  error?: GatewayError | undefined;
  /** What the client got, for the call's retry key. */
  answer?: SentAnswer | undefined;
}

/**
 * One call under way, from its hold to its end: what all ways of answering it have in common. What its body said is left
 * behind once it has been sent, since a stream may stay open for long.
 */
export class RunningCall<Body extends ChargeableBody> {
  readonly parts: RunningCallParts<Body>;
  #millisecondsToFirstByte: number | undefined;
  #ended = false;
  /** What was told last, and how. */
  #told: ObservedUsage | undefined;
  #credits = "0";

  constructor(parts: RunningCallParts<Body>) {
    this.parts = parts;
  }

  /** Notes that the client gets something from now on. */
  firstByte(): void {
    this.#millisecondsToFirstByte = performance.now() - this.parts.startedAt;
  }

  /** What the call costs, for a header and the log. */
  creditsOf(observed: ObservedUsage): string {
    if (observed !== this.#told) {
      this.#credits = formatCredits(this.parts.charge.costOf(observed));
      this.#told = observed;
    }
    return this.#credits;
  }

  /** Ends the charge, writes the call's record and its log line. Only the first end counts. Resolves when it is durable. */
  end(result: CallResult): Promise<void> {
    if (this.#ended) return Promise.resolve();
    const { charge, incoming, target, logger, files, onEnd } = this.parts;
    const { observed, error } = result;
    const record = this.#record(result);
    const ending: Ending = { record, answer: this.#kept(result) };
    // What could throw has been done: from here on the charge ends with the call.
    this.#ended = true;
    const committed = observed === undefined ? charge.release(record) : charge.settle(observed, ending);
    logCall(logger, {
      record,
      requestId: incoming.requestId,
      tokenId: incoming.principal.tokenId,
      modelId: target.modelId,
      credits: observed === undefined ? "0" : this.creditsOf(observed),
      files,
      error,
    });
    onEnd();
    return committed;
  }

  #record({ status, outcome, observed }: CallResult): CallRecord {
    const { incoming, route, target, streamed, startedAt, at } = this.parts;
    return {
      owner: incoming.principal.user,
      operation: route.operations[0],
      dialect: route.codec.dialect,
      provider: target.route.prefix,
      model: target.model,
      streamed,
      status,
      outcome,
      usage: observed?.usage ?? {},
      milliseconds: performance.now() - startedAt,
      millisecondsToFirstByte: this.#millisecondsToFirstByte,
      startedAt: at,
    };
  }

  #kept({ status, answer, observed, outcome }: CallResult): KeptAnswer | undefined {
    const { route, incoming } = this.parts;
    if (answer === undefined || observed === undefined || outcome !== "complete") return undefined;
    return keptAnswer(status, answer, route.surface, incoming.requestId);
  }
}
