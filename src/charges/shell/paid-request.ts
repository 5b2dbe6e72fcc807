import type { Principal } from "../../auth/index.ts";
import type { BodySource, ModelOf, ReceivedBody } from "../../bodies/index.ts";
import type { GatewayError, Nano, Surface } from "../../core/index.ts";
import type { RetryKey } from "../../ledger/index.ts";
import type { MemoryShare } from "../../streaming/index.ts";
import type { AnswerAhead } from "../retry/answered-work.ts";
import type { WorkNames, WorkOrder } from "../work-order.ts";
import type { BatchedCall } from "./batched-call.ts";

/** The receiver of an answer. The signal is only checked on ticks, because most work ends before the first. */
export type PaidClient = Pick<Request, "signal">;

/**
 * One authenticated request for paid work, independent of its origin: an HTTP request, a turn of a WebSocket, another
 * feature of the gateway.
 */
export interface PaidRequest {
  requestId: string;
  /** The id of the series that the work belongs to: a connection with several. */
  parent?: string;
  principal: Principal;
  /** Of a part of other work: the names of that. By default they are read from its headers and its body. */
  names?: WorkNames | undefined;
  /** Headers as sent by an HTTP client of the route's surface. */
  headers: Headers;
  /** The body, or its source if it has not been read yet. */
  body: Uint8Array | BodySource;
  client: PaidClient;
  /** Whether its address is in the group of a provider. */
  isGrouped?: boolean;
  /** The model, if the request's address decides about it. */
  modelOf?: ModelOf | undefined;
  /** Called with what the work has been charged, in nano-credits, once that is durable and before its answer is complete. */
  charged?: ((cost: Nano) => void) | undefined;
  /** Only the answer to an earlier request with its retry key is given; if that is free, this refuses it. */
  unlessRepeated?: GatewayError | undefined;
  /** The upstream does it as a line of a batch. It has no retry key. */
  batched?: BatchedCall | undefined;
}

/** The answer to a request. A stream's bytes are produced as they are read, and cancelling it ends the work. */
export interface PaidAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array | string | ReadableStream<Uint8Array>;
}

/** The plan of a way of work for one body and one target. */
export interface WorkPlan {
  order: WorkOrder;
  /** How long the work continues after its client has disconnected. With a retry key, it always continues to its end. */
  clientGoneGraceMs: number;
  /** Whether it is ended once its token may no longer be used; by default if its answer is streamed. */
  endsWithToken?: boolean;
  /** The answer, if it is known before the work begins: stored for the retry key in the commit of the hold. */
  ahead?: AnswerAhead;
}

/** A plan depends on these besides the body. */
export interface Planning<Target> {
  /** Undefined for a request without a retry key. */
  retry: RetryKey | undefined;
  /** Counts the body, and what a plan adds to it. */
  memory: MemoryShare;
  /** The target; by default the way of work chooses it. */
  target?: Target | undefined;
}

/** Makes the plans of one request. */
export interface WorkPlanner<Body, Plan extends WorkPlan, Target> {
  readonly surface: Surface;
  /**
   * Everything that depends on the body's content and can refuse it. Changes nothing, neither the body nor outside, so that
   * it may be called again with another target. Returns a promise only if it waits: most plans need none.
   */
  plan(received: ReceivedBody<Body>, planning: Planning<Target>): Plan | Promise<Plan>;
}
