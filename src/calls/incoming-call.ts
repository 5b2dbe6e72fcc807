import type { PaidRequest } from "../charges/index.ts";
import type { AskUpstream } from "../core/index.ts";

/** Whether the client is one of OpenAI's SDKs or the AI SDK, and has not asked for the provider's own answers. */
export function isForOpenai({ headers, isGrouped = false }: Pick<IncomingCall, "headers" | "isGrouped">): boolean {
  if (isGrouped) return false;
  return headers.has("x-stainless-lang") || headers.get("user-agent")?.includes("ai-sdk/") === true;
}

/** A request for a chargeable route. */
export interface IncomingCall extends PaidRequest {
  /** Sends the request to an upstream that takes turns over sockets, in place of the process's client: over a connection of the caller's own. */
  ask?: AskUpstream | undefined;
  /** Whether it is a round of a call whose hosted tools the gateway runs. */
  isRound?: boolean;
}

/**
 * Throws for a line that is to be held and depends on what may be gone when its answer comes, such as a stored response, or a file at an
 * address: without that, nobody could read the answer. Such a line is called by the gateway itself.
 */
export function requireWhole({ batched }: Pick<IncomingCall, "batched">): void {
  if (batched?.kind === "hold") throw batched.otherwise;
}
