/** A response of the Responses API that continues another, and is stored for the next one. */
import type { Principal } from "../auth/index.ts";
import { storeOrLog } from "../calls/index.ts";
import { type JsonObject, limits } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { ResponseStoreService } from "../objects/index.ts";
import type { Target } from "../routing/index.ts";

interface KeepingOptions {
  /** Undefined for another dialect. */
  store: ResponseStoreService | undefined;
  principal: Principal;
  target: Target;
  /** The client's own body, and its size. */
  given: JsonObject;
  bytes: number;
  requestId: string;
  logger: Logger;
}

/** Stores the response. Never rejects: it exists, and its rounds are paid for. */
export type KeptResponse = (response: JsonObject) => Promise<void>;

/**
 * The body with the rounds before it, unless its upstream has them, and how its response is stored. `own`: the client's body, without
 * storage if it is too large for that. Throws as the store does.
 */
export async function keepingOf({
  store,
  principal,
  target,
  given,
  bytes,
  requestId,
  logger,
}: KeepingOptions): Promise<{ own: JsonObject; body: JsonObject; kept: KeptResponse | undefined }> {
  if (store === undefined) return { own: given, body: given, kept: undefined };
  const own = bytes > limits.storedRoundBytesMax ? { ...given, store: false } : given;
  const callId = callIdOf(requestId);
  const { expanded, conversationId } = await store.resolveInput({ principal, target, request: own, callId });
  const { store: isStored, previous_response_id } = own;
  const input = expanded?.ownItems ?? own["input"];
  const turn = conversationId === undefined ? undefined : { conversationId, items: expanded?.ownItems ?? [] };
  const said = { principal, target, callId, turn, request: { store: isStored, previous_response_id, input } };
  const kept: KeptResponse = (response) => storeOrLog(logger, requestId, () => store.store(said, response, undefined));
  return { own, body: expanded?.body ?? own, kept };
}

/** Unique to the call; letters and digits only. */
export function callIdOf(requestId: string): string {
  return requestId.replace(/^req_/, "");
}
