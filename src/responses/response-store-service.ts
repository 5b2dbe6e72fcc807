/**
 * Responses that are kept: by their upstream, of which we note whose they are, or by us where the upstream keeps none.
 * A response is found by its owner alone; upstreams know all callers by one key, so that nothing else keeps them apart.
 */
import type { Principal } from "../auth/index.ts";
import { type Clock, GatewayError, type JsonObject, limits, listOf, objectOf, parseObject } from "../core/index.ts";
import { inputItems, referencedItems } from "../dialects/index.ts";
import type { Target } from "../routing/index.ts";
import type { ResponseStore, StoredResponse } from "./store.ts";

export interface ResponseStoreDependencies {
  responses: ResponseStore;
  clock: Clock;
}

/** What a call puts in and where it goes. */
export interface StorableCall {
  principal: Principal;
  target: Target;
  /** The client's own body. */
  request: JsonObject;
  /** Letters and digits that are the call's alone: ids of its items are made from them. */
  callId: string;
}

/** What a call refers to, as it is sent. */
export interface ResolvedInput {
  /** Undefined where the body can go as it is. */
  expanded: ExpandedInput | undefined;
  /** The id of the only key that knows the response which the call continues; undefined where any key will do. */
  pinnedKeyId: string | undefined;
}

/** A body that says by itself what it referred to. */
export interface ExpandedInput {
  body: JsonObject;
  /** How many of its input's items are of earlier rounds. */
  earlierItems: number;
  /** The others, as they are kept. */
  ownItems: readonly JsonObject[];
}

interface EarlierRounds {
  items?: readonly unknown[];
  pinnedKeyId?: string | undefined;
}

export class ResponseStoreService {
  readonly #deps: ResponseStoreDependencies;

  constructor(deps: ResponseStoreDependencies) {
    this.#deps = deps;
  }

  /**
   * The body with all that it refers to put in its place: the rounds before it, where it continues a response that the
   * upstream doesn't know, and kept items that it only names. Throws 404 for a response that is not the caller's, and 422
   * for one that only another provider knows.
   */
  async resolveInput(call: StorableCall): Promise<ResolvedInput> {
    const { request, callId } = call;
    const { items: earlier, pinnedKeyId } = await this.#earlier(call);
    const named = await this.#named(call, earlier ?? []);
    if (earlier === undefined && named.size === 0) return { expanded: undefined, pinnedKeyId };
    // One that is not ours is the upstream's to find.
    const find = (id: string): JsonObject => named.get(id) ?? { type: "item_reference", id };
    const ownItems = inputItems(request, callId, find);
    const body: JsonObject = { ...request, input: [...(earlier ?? []), ...ownItems] };
    if (earlier === undefined) return { expanded: { body, earlierItems: 0, ownItems }, pinnedKeyId };
    const { previous_response_id: _, ...rest } = body;
    return { expanded: { body: rest, earlierItems: earlier.length, ownItems }, pinnedKeyId };
  }

  /** The items of the rounds before, or the key that knows them where the upstream has them; neither where there are none. */
  async #earlier({ principal, target, request }: StorableCall): Promise<EarlierRounds> {
    const id = request["previous_response_id"];
    if (typeof id !== "string") return {};
    const chain = await this.#chain(id, principal);
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id, "previous_response_id");
    if (last.content === undefined && last.provider === target.route.prefix && target.operation.keeps !== undefined) {
      return { pinnedKeyId: last.keyId };
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

  /** The kept items that the input only names, by their ids. */
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
    for (const id of ids) {
      const item = itemWith(id, earlier) ?? (await this.#itemOf(id, principal));
      if (item !== undefined) named.set(id, item);
    }
    return named;
  }

  /** The ids of our items hold that of their call, which is their response's too. */
  async #itemOf(id: string, { user }: Principal): Promise<JsonObject | undefined> {
    const { responses, clock } = this.#deps;
    const responseId = `resp_${id.split("_")[1]}`;
    const found = isId(responseId) ? await responses.find(responseId, user, clock()) : undefined;
    return found?.content === undefined ? undefined : itemWith(id, roundOf(found));
  }

  /**
   * Keeps a response, unless the caller doesn't want that. Where the upstream has it under the id that the client got
   * (`upstream`), only its owner is noted, and the key that made it. Durable when it resolves.
   */
  async store(
    { principal, target, request, callId }: StorableCall,
    response: JsonObject,
    upstream: { keyId: string } | undefined,
  ): Promise<void> {
    const { id } = response;
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

  /** Throws 404 where the caller has no such response. */
  async find(id: string, { user }: Principal): Promise<StoredResponse> {
    const { responses, clock } = this.#deps;
    const found = isId(id) ? await responses.find(id, user, clock()) : undefined;
    if (found === undefined) throw notFound(id);
    return found;
  }

  /**
   * What was put in: in this round and in those before it that are still kept. Throws 404 where the caller has no such
   * response.
   */
  async inputOf(id: string, principal: Principal): Promise<unknown[]> {
    const chain = await this.#chain(id, principal);
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id);
    return [...chain.slice(0, -1).flatMap(roundOf), ...inputOf(last)];
  }

  /** Throws 404 where the caller has no such response. */
  async remove(id: string, { user }: Principal): Promise<void> {
    if (!isId(id) || !(await this.#deps.responses.remove(id, user))) throw notFound(id);
  }

  async #chain(id: string, { user }: Principal): Promise<StoredResponse[]> {
    const { responses, clock } = this.#deps;
    return isId(id) ? responses.chain(id, user, clock()) : [];
  }
}

/** Whether it can be an id at all: nothing that a storage would have to refuse. */
function isId(text: string): boolean {
  return text.length <= limits.responseIdCharactersMax && !text.includes("\0");
}

/**
 * A refusal of a body with earlier rounds in front, as who sent only the last one can read it: places in the input are
 * counted from that one's first item.
 */
export function rebaseErrorPath(error: GatewayError, earlierItems: number): GatewayError {
  const { code, message, param } = error;
  const [place = "", digits] = /^input\.(\d+)/.exec(param ?? "") ?? [];
  if (param === undefined || digits === undefined) return error;
  const index = Number(digits) - earlierItems;
  const own = index < 0 ? `previous_response_id.${digits}` : `input.${index}`;
  const inOwn = (text: string): string => (text.startsWith(place) ? own + text.slice(place.length) : text);
  return new GatewayError(code, inOwn(message), { param: inOwn(param) });
}

/** What went in and came out. Throws 422 where only another provider knows it. */
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
