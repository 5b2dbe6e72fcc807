import type { PaidRequest } from "../charges/index.ts";
import type { AskUpstream } from "../core/index.ts";
import type { CallTarget } from "../routing/index.ts";

/** Whether the client is one of OpenAI's SDKs or the AI SDK, and has not asked for the provider's own answers. */
export function isForOpenai({ headers, isGrouped = false }: Pick<IncomingCall, "headers" | "isGrouped">): boolean {
  if (isGrouped) return false;
  return headers.has("x-stainless-lang") || headers.get("user-agent")?.includes("ai-sdk/") === true;
}

/** A request for a chargeable route. */
export interface IncomingCall extends PaidRequest {
  /** Sends the request to an upstream that takes turns over sockets, in place of the process's client: over a connection of the caller's own. */
  ask?: AskUpstream | undefined;
  /** Of a round of a call whose hosted tools the gateway runs. */
  round?: CallRound | undefined;
}

export interface CallRound {
  /** Gets the target that gives the answer, of several; before the answer ends. */
  answeredBy: (target: CallTarget) => void;
  /** The only target that may be asked: an earlier round has begun the answer there. */
  stay: CallTarget | undefined;
}

/**
 * Throws for a line that is to be held and depends on what may be gone when its answer comes, such as a stored response, or a file at an
 * address: without that, nobody could read the answer. Such a line is called by the gateway itself.
 */
export function requireWhole({ batched }: Pick<IncomingCall, "batched">): void {
  if (batched?.kind === "hold") throw batched.otherwise;
}
