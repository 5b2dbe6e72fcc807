/**
 * Stored responses: stored by their upstream, in which case only their owner is recorded here, or by the gateway if the
 * upstream stores none. A response is found only by its owner. Upstreams see all callers with one key, so nothing else
 * separates them.
 */
import type { Principal } from "../../auth/index.ts";
import {
  type Clock,
  GatewayError,
  isStorableId,
  type JsonObject,
  limits,
  listOf,
  objectOf,
  parseObject,
} from "../../core/index.ts";
import { inputItems, referencedItems } from "../../dialects/index.ts";
import type { Target } from "../../routing/index.ts";
import type { Conversations } from "../conversations/conversations.ts";
import type { ResponseStore, StoredResponse } from "./store.ts";

export interface ResponseStoreDependencies {
  responses: ResponseStore;
  conversations: Conversations;
  clock: Clock;
}

/** The input of a call, and its target. */
export interface StorableCall {
  principal: Principal;
  target: Target;
  /** The client's own body. */
  request: JsonObject;
  /** Letters and digits unique to the call; ids of its items are derived from them. */
  callId: string;
}

/** What a call adds to a conversation before its answer. */
export interface ConversationTurn {
  conversationId: string;
  items: readonly JsonObject[];
}

/** The input of a call with its references resolved. */
export interface ResolvedInput {
  /** Undefined if the body can be sent unchanged. */
  expanded: ExpandedInput | undefined;
  /** The id of the only key that knows the response which the call continues; undefined if any key will do. */
  pinnedKeyId: string | undefined;
  /** The caller's conversation that the call continues. */
  conversationId?: string | undefined;
}

/** A body without references: all items are included. */
export interface ExpandedInput {
  body: JsonObject;
  /** How many items of its input belong to earlier rounds, and the field that stands for them. */
  earlierItems: number;
  earlierField: "previous_response_id" | "conversation";
  /** The other items, as they are stored. */
  ownItems: readonly JsonObject[];
}

interface EarlierRounds {
  items?: readonly unknown[];
  /** The response before these items, which only the upstream knows. */
  keptThere?: string;
  pinnedKeyId?: string | undefined;
  conversationId?: string;
}

export class ResponseStoreService {
  readonly #deps: ResponseStoreDependencies;

  constructor(deps: ResponseStoreDependencies) {
    this.#deps = deps;
  }

  /**
   * Resolves all references of the body: the rounds before it, if it continues a response that the upstream does not
   * know, and stored items that it references. Throws 404 for a response of another user, and 422 for one that only
   * another provider knows.
   */
  async resolveInput(call: StorableCall): Promise<ResolvedInput> {
    const { request, callId } = call;
    const {
      items: earlier,
      keptThere,
      pinnedKeyId,
      conversationId,
    } = (await this.#conversation(call)) ?? (await this.#earlier(call));
    const named = await this.#named(call, earlier ?? []);
    if (earlier === undefined && named.size === 0) return { expanded: undefined, pinnedKeyId };
    // An unknown item is left to the upstream to find.
    const find = (id: string): JsonObject => named.get(id) ?? { type: "item_reference", id };
    const ownItems = inputItems(request, callId, find);
    const body: JsonObject = { ...request, input: [...(earlier ?? []), ...ownItems] };
    const earlierField = conversationId === undefined ? "previous_response_id" : "conversation";
    if (earlier === undefined) return { expanded: { body, earlierItems: 0, earlierField, ownItems }, pinnedKeyId };
    const { previous_response_id: _, conversation: _conversation, ...rest } = body;
    const sent = keptThere === undefined ? rest : { ...rest, previous_response_id: keptThere };
    return {
      expanded: { body: sent, earlierItems: earlier.length, earlierField, ownItems },
      pinnedKeyId,
      conversationId,
    };
  }

  /** The items of the caller's conversation; undefined for a call without one of the gateway's. */
  async #conversation({ principal, target, request }: StorableCall): Promise<EarlierRounds | undefined> {
    const { conversation: given, previous_response_id: previous } = request;
    if (given === undefined || given === null) return undefined;
    if (typeof previous === "string") {
      const message = "conversation and previous_response_id exclude each other: send one of them.";
      throw new GatewayError("validation_failed", message, { param: "previous_response_id" });
    }
    const id = typeof given === "string" ? given : objectOf(given)?.["id"];
    if (typeof id !== "string") {
      throw new GatewayError("validation_failed", "conversation: must be an id, or an object with one.", {
        param: "conversation",
      });
    }
    const { conversations } = this.#deps;
    const found = await conversations.findOwn(id, principal);
    if (found !== undefined) {
      return { items: await conversations.itemsFor(found, target.route.prefix), conversationId: id };
    }
    // One that the provider keeps is checked like its other objects.
    if (target.operation.dialect === "responses") return undefined;
    const message = `conversation: there is no conversation ${JSON.stringify(id.slice(0, 80))} of yours.`;
    throw new GatewayError("object_not_found", message, { param: "conversation" });
  }

  /** The items of the rounds before, or the key of the upstream that stores them; neither if there are none. */
  async #earlier({ principal, target, request }: StorableCall): Promise<EarlierRounds> {
    const id = request["previous_response_id"];
    if (typeof id !== "string") return {};
    const chain = await this.#chain(id, principal);
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id, "previous_response_id");
    const keptAt = chain.findLastIndex(({ content }) => content === undefined);
    const kept = chain[keptAt];
    if (kept?.provider === target.route.prefix && target.operation.storesAnswers !== undefined) {
      if (kept === last) return { pinnedKeyId: kept.keyId };
      // Those with tools of the gateway are kept here, also behind one that the upstream keeps.
      return { items: chain.slice(keptAt + 1).flatMap(roundOf), keptThere: kept.id, pinnedKeyId: kept.keyId };
    }
    if (chain[0]?.previousId !== undefined) {
      throw new GatewayError(
        "response_not_found",
        "previous_response_id: what was said before is not all kept any more, or too long.",
        { param: "previous_response_id" },
      );
    }
    return { items: chain.flatMap(roundOf) };
  }

  /** The stored items referenced by the input, by id. */
  async #named(
    { principal, request }: StorableCall,
    earlier: readonly unknown[],
  ): Promise<ReadonlyMap<string, JsonObject>> {
    const ids = new Set(referencedItems(request));
    if (ids.size > limits.referencedItemsMax) {
      const message = `input: names more than ${limits.referencedItemsMax} items that were said before.`;
      throw new GatewayError("validation_failed", message, { param: "input" });
    }
    const named = new Map<string, JsonObject>();
    const byResponse = new Map<string, string[]>();
    for (const id of ids) {
      const item = itemWith(id, earlier);
      if (item !== undefined) named.set(id, item);
      else byResponse.set(responseOf(id), [...(byResponse.get(responseOf(id)) ?? []), id]);
    }
    let characters = 0;
    for (const [responseId, itemIds] of byResponse) {
      const round = isStorableId(responseId)
        ? await this.#deps.responses.find(responseId, principal.user, this.#deps.clock())
        : undefined;
      if (round?.content === undefined) continue;
      // The response that exceeds it is the last one.
      if (characters >= limits.expandedBytesMax) throw tooMuchNamed();
      characters += round.content.input.length + round.content.response.length;
      const items = roundOf(round);
      for (const id of itemIds) {
        const item = itemWith(id, items);
        if (item !== undefined) named.set(id, item);
      }
    }
    return named;
  }

  /**
   * Stores a response, unless the caller disabled it. If the upstream stores it under the id sent to the client
   * (`upstream`), only its owner and the key that made it are recorded. Durable when it resolves.
   */
  async store(
    { principal, target, request, callId, turn }: StorableCall & { turn?: ConversationTurn | undefined },
    response: JsonObject,
    upstream: { keyId: string } | undefined,
  ): Promise<void> {
    const { id } = response;
    if (turn !== undefined) {
      const items = [...turn.items, ...listOf(response["output"]).map((item) => objectOf(item) ?? {})];
      const isKept = upstream !== undefined && request["store"] !== false;
      const key = { id: turn.conversationId, owner: principal.user };
      await this.#deps.conversations.append(key, { items, provider: isKept ? target.route.prefix : undefined });
    }
    if (request["store"] === false || typeof id !== "string") return;
    const previousId = request["previous_response_id"];
    const at = this.#deps.clock();
    await this.#deps.responses.put({
      id,
      owner: principal.user,
      provider: target.route.prefix,
      model: target.model,
      createdAt: at,
      expiresAt: at + limits.responseTtlMs,
      previousId: typeof previousId === "string" ? previousId : undefined,
      keyId: upstream?.keyId,
      content:
        upstream !== undefined
          ? undefined
          : { input: JSON.stringify(inputItems(request, callId)), response: JSON.stringify(response) },
    });
  }

  /** Throws 404 if the caller has no such response. */
  async find(id: string, { user }: Principal): Promise<StoredResponse> {
    const { responses, clock } = this.#deps;
    const found = isStorableId(id) ? await responses.find(id, user, clock()) : undefined;
    if (found === undefined) throw notFound(id);
    return found;
  }

  /**
   * The input of this round and of all earlier rounds that are still stored. Throws 404 if the caller has no such
   * response.
   */
  async inputOf(id: string, principal: Principal): Promise<unknown[]> {
    const chain = await this.#chain(id, principal);
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id);
    return [...chain.slice(0, -1).flatMap(roundOf), ...inputOf(last)];
  }

  /** The same of a response that is not stored yet, with its own input as JSON text of a list. */
  async inputAfter(
    { input, previousId }: { input: string; previousId: string | undefined },
    principal: Principal,
  ): Promise<unknown[]> {
    const chain = previousId === undefined ? [] : await this.#chain(previousId, principal);
    return [...chain.flatMap(roundOf), ...listOf(JSON.parse(input))];
  }

  /** Throws 404 if the caller has no such response. */
  async remove(id: string, { user }: Principal): Promise<void> {
    if (!isStorableId(id) || !(await this.#deps.responses.remove(id, user))) throw notFound(id);
  }

  async #chain(id: string, { user }: Principal): Promise<StoredResponse[]> {
    const { responses, clock } = this.#deps;
    return isStorableId(id) ? responses.chain(id, user, clock()) : [];
  }
}

/**
 * Rewrites a refusal of a body with earlier rounds for a client that sent only the last one: positions in the input are
 * counted from that client's first item.
 */
export function rebaseErrorPath(
  error: GatewayError,
  { earlierItems, earlierField }: Pick<ExpandedInput, "earlierItems" | "earlierField">,
): GatewayError {
  const { code, message, param } = error;
  const [place = "", digits] = /^input\.(\d+)/.exec(param ?? "") ?? [];
  if (param === undefined || digits === undefined) return error;
  const index = Number(digits) - earlierItems;
  const own = index < 0 ? `${earlierField}.${digits}` : `input.${index}`;
  const inOwn = (text: string): string => (text.startsWith(place) ? own + text.slice(place.length) : text);
  return new GatewayError(code, inOwn(message), { param: inOwn(param) });
}

/** The input and output of a round. Throws 422 if only another provider knows it. */
function roundOf(round: StoredResponse): readonly unknown[] {
  if (round.content === undefined) {
    throw new GatewayError(
      "validation_failed",
      `previous_response_id: the conversation is kept by the provider ${round.provider} and can only be continued there.`,
      { param: "previous_response_id" },
    );
  }
  return [...inputOf(round), ...listOf(parseObject(round.content.response)?.["output"])];
}

/** The ids of our items contain the id of their call, which is their response's too. */
function responseOf(itemId: string): string {
  return `resp_${itemId.split("_")[1]}`;
}

function tooMuchNamed(): GatewayError {
  const message = `input: the responses of the items that it names have more than ${limits.expandedBytesMax} characters.`;
  return new GatewayError("validation_failed", message, { param: "input" });
}

function itemWith(id: string, items: readonly unknown[]): JsonObject | undefined {
  for (const item of items) {
    const object = objectOf(item);
    if (object?.["id"] === id) return object;
  }
  return undefined;
}

function inputOf({ content }: StoredResponse): readonly unknown[] {
  return content === undefined ? [] : listOf(JSON.parse(content.input));
}

function notFound(id: string, param?: string): GatewayError {
  const message = `There is no response ${JSON.stringify(id.slice(0, 80))}.`;
  return new GatewayError("response_not_found", message, param === undefined ? {} : { param });
}
