/** The paid work of one loop: its rounds and the uses of its tools, each with its own hold and record under the call's id. */
import type { Principal } from "../auth/index.ts";
import type { CallRound, IncomingCall } from "../calls/index.ts";
import type { PaidAnswer, PaidRequest, WorkNames } from "../charges/index.ts";
import {
  type Environment,
  formatCredits,
  type JsonObject,
  type Nano,
  type ObservedUsage,
  type RateLimits,
  requestId,
} from "../core/index.ts";
import type { MemoryShare } from "../streaming/index.ts";
import type { ServedBy } from "./running/served-tools.ts";
import type { PageFinder } from "./running/web-tools.ts";

export interface LoopCallOptions {
  /** The call's own request. */
  incoming: Omit<IncomingCall, "body">;
  names: WorkNames;
  /** The most that all parts may cost together; undefined without such a limit. */
  chargeMax: Nano | undefined;
  /** Counts what the loop keeps. */
  memory: Pick<MemoryShare, "add">;
  /** Ends everything under way. */
  signal: AbortSignal;
  /** Performs one call of the model. */
  perform: (round: IncomingCall) => Promise<PaidAnswer>;
  pages: PageFinder;
  served: ServedBy;
  readUsage: (answer: JsonObject) => ObservedUsage | undefined;
  environment: Pick<Environment, "clock" | "randomBytes">;
}

/** Headers of the call that are not for its parts. */
const notPassedOn = ["idempotency-key", "x-tollgate-max-credits", "content-length", "content-encoding"];

export class LoopCall {
  readonly #options: LoopCallOptions;
  readonly #principal: Principal;
  readonly #parent: string;
  /** The charges so far. */
  spent = 0n;
  /** The target of the last round, if there are several. */
  #target: CallRound["stay"];

  constructor(options: LoopCallOptions) {
    this.#options = options;
    const { principal, requestId: id } = options.incoming;
    // Parts of a part are parts of the call itself, which has the sum of all.
    this.#parent = principal.partOf ?? id;
    this.#principal = countingTokens(principal, this.#parent);
  }

  /** Whether its costs have a limit of their own. */
  get isBounded(): boolean {
    return this.#options.chargeMax !== undefined;
  }

  get pages(): PageFinder {
    return this.#options.pages;
  }

  get served(): ServedBy {
    return this.#options.served;
  }

  get readUsage(): LoopCallOptions["readUsage"] {
    return this.#options.readUsage;
  }

  get memory(): LoopCallOptions["memory"] {
    return this.#options.memory;
  }

  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Performs a round. `stays`: at the target of the round before, since the client has got content from there. */
  askModel(body: JsonObject, { stays }: { stays: boolean }): Promise<PaidAnswer> {
    const { perform, incoming } = this.#options;
    const { isGrouped = false, ask } = incoming;
    const charged = (cost: Nano): void => void (this.spent += cost);
    const round: CallRound = {
      answeredBy: (target) => void (this.#target = target),
      stay: stays ? this.#target : undefined,
    };
    return perform({ ...this.partOf(body), isGrouped, ask, charged, round });
  }

  /** The request of one part. */
  partOf(body: JsonObject): PaidRequest {
    const { incoming, names, signal, environment, chargeMax } = this.#options;
    const headers = new Headers(incoming.headers);
    for (const name of notPassedOn) headers.delete(name);
    headers.set("content-type", "application/json");
    if (chargeMax !== undefined) headers.set("x-tollgate-max-credits", creditsLeft(chargeMax - this.spent));
    return {
      requestId: requestId(environment.clock, environment.randomBytes),
      parent: this.#parent,
      principal: this.#principal,
      names,
      headers,
      body: Buffer.from(JSON.stringify(body)),
      client: { signal },
    };
  }
}

/** The call has been counted as a request, and passed the limits of those; the tokens of each part count, and have limits. */
function countingTokens(principal: Principal, partOf: string): Principal {
  const { rates, ratesAbove = [] } = principal;
  const above = ratesAbove.map((limits) => tokensOf(limits) ?? {});
  const { ratesAbove: _, ...rest } = principal;
  const isLimited = above.some(({ tokensPerMinute }) => tokensPerMinute !== undefined);
  return { ...rest, partOf, rates: rates && tokensOf(rates), ...(isLimited && { ratesAbove: above }) };
}

function tokensOf({ tokensPerMinute }: Readonly<RateLimits>): RateLimits | undefined {
  return tokensPerMinute === undefined ? undefined : { tokensPerMinute };
}

function creditsLeft(left: Nano): string {
  return formatCredits(left < 0n ? 0n : left);
}
