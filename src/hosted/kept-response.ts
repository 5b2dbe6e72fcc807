/** A response of the Responses API that continues another, and is stored for the next one. */
import type { Principal } from "../auth/index.ts";
import type { JsonObject } from "../core/index.ts";
import type { ResponseStoreService } from "../objects/index.ts";
import type { Target } from "../routing/index.ts";

interface KeepingOptions {
  /** Undefined for another dialect. */
  store: ResponseStoreService | undefined;
  principal: Principal;
  target: Target;
  /** The client's own body. */
  own: JsonObject;
  callId: string;
}

/** Stores the response. */
export type KeptResponse = (response: JsonObject) => Promise<void>;

/** The body with the rounds before it, unless its upstream has them, and how its response is stored. Throws as the store does. */
export async function keepingOf({
  store,
  principal,
  target,
  own,
  callId,
}: KeepingOptions): Promise<{ body: JsonObject; kept: KeptResponse | undefined }> {
  if (store === undefined) return { body: own, kept: undefined };
  const { expanded, conversationId } = await store.resolveInput({ principal, target, request: own, callId });
  const { store: isStored, previous_response_id } = own;
  const input = expanded?.ownItems ?? own["input"];
  const turn = conversationId === undefined ? undefined : { conversationId, items: expanded?.ownItems ?? [] };
  const said = { principal, target, callId, turn, request: { store: isStored, previous_response_id, input } };
  return { body: expanded?.body ?? own, kept: (response) => store.store(said, response, undefined) };
}
