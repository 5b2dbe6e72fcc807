/**
 * Responses that are kept: by their upstream, of which we note whose they are, or by us where the upstream keeps none.
 * A response is found by its owner alone; upstreams know all callers by one key, so that nothing else keeps them apart.
 */
import { type Clock, GatewayError, type JsonObject, limits, objectOf, parseObject } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import { inputItems, referencedItems } from "../dialects/index.ts";
import type { ResponseStore, StoredResponse } from "../responses/index.ts";
import type { Target } from "../routing/index.ts";

export interface KeeperDependencies {
  responses: ResponseStore;
  clock: Clock;
}

/** What a call puts in and where it goes. */
export interface KeptCall {
  principal: Principal;
  target: Target;
  /** The client's own body. */
  request: JsonObject;
  /** Letters and digits that are the call's alone: ids of its items are made from them. */
  callId: string;
}

export class ResponseKeeper {
  readonly #deps: KeeperDependencies;

  constructor(deps: KeeperDependencies) {
    this.#deps = deps;
  }

  /**
   * The body with all that it refers to put in its place: the rounds before it, where it continues a response that the
   * upstream doesn't know, and kept items that it only names. Undefined where it can go as it is. Throws 404 for a
   * response that is not the caller's, and 422 for one that only another provider knows.
   */
  async recall(call: KeptCall): Promise<JsonObject | undefined> {
    const { request, callId } = call;
    const earlier = await this.#earlier(call);
    const named = await this.#named(call, earlier ?? []);
    if (earlier === undefined && named.size === 0) return undefined;
    const { previous_response_id: previousId, ...rest } = request;
    const own = named.size === 0 ? inputItems(request, callId) : withNamed(request, named);
    if (earlier !== undefined) return { ...rest, input: [...earlier, ...own] };
    return { ...rest, ...(previousId === undefined ? {} : { previous_response_id: previousId }), input: own };
  }

  /** What was said in the rounds before; undefined where there are none, or the upstream has them. */
  async #earlier({ principal, target, request }: KeptCall): Promise<unknown[] | undefined> {
    const id = request["previous_response_id"];
    if (typeof id !== "string") return undefined;
    const chain = await this.#deps.responses.chain(id, principal.user, this.#deps.clock());
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id, "previous_response_id");
    const known = last.content === undefined && last.provider === target.route.prefix && isKeptUpstream(target);
    return known ? undefined : itemsOf(chain, id);
  }

  /** The kept items that the input only names, by their ids. */
  async #named(
    { principal, request }: KeptCall,
    earlier: readonly unknown[],
  ): Promise<ReadonlyMap<string, JsonObject>> {
    const named = new Map<string, JsonObject>();
    for (const id of referencedItems(request)) {
      const item = itemWith(id, earlier) ?? (await this.#itemOf(id, principal));
      if (item !== undefined) named.set(id, item);
    }
    return named;
  }

  /** The ids of our items hold that of their call, which is their response's too. */
  async #itemOf(id: string, { user }: Principal): Promise<JsonObject | undefined> {
    const [, callId] = id.split("_");
    const found = await this.#deps.responses.find(`resp_${callId}`, user, this.#deps.clock());
    return found === undefined ? undefined : itemWith(id, roundOf(found));
  }

  /** The request's own input, with the items that it only names. */
  async #inputOf(call: KeptCall): Promise<unknown[]> {
    const { request, callId } = call;
    const named = await this.#named(call, []);
    return inputItems(named.size === 0 ? request : { input: withNamed(request, named) }, callId);
  }

  /** Keeps a response, unless the caller doesn't want that. Durable when it resolves. */
  async keep(call: KeptCall, response: JsonObject): Promise<void> {
    const { principal, target, request } = call;
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
      keptUntil: at + limits.responseKeptMs,
      previousId: typeof previousId === "string" ? previousId : undefined,
      content: isKeptUpstream(target)
        ? undefined
        : { input: JSON.stringify(await this.#inputOf(call)), response: JSON.stringify(response) },
    });
  }

  /** Throws 404 where the caller has no such response. */
  async find(id: string, { user }: Principal): Promise<StoredResponse> {
    const found = await this.#deps.responses.find(id, user, this.#deps.clock());
    if (found === undefined) throw notFound(id);
    return found;
  }

  /** What was put in: of this round and those before it. Throws 404 where the caller has no such response. */
  async inputOf(id: string, { user }: Principal): Promise<unknown[]> {
    const chain = await this.#deps.responses.chain(id, user, this.#deps.clock());
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id);
    return [...itemsOf(chain.slice(0, -1), id), ...inputOf(last)];
  }

  async remove(id: string, { user }: Principal): Promise<void> {
    if (!(await this.#deps.responses.remove(id, user))) throw notFound(id);
  }
}

/** Whether what this upstream answers can be looked up there. */
function isKeptUpstream({ operation }: Pick<Target, "operation">): boolean {
  return operation.keeps !== undefined;
}

/** All that was said in these rounds, oldest first. Throws 422 where only another provider knows a part of it. */
function itemsOf(chain: readonly StoredResponse[], id: string): unknown[] {
  const [first] = chain;
  if (first?.previousId !== undefined) throw notFound(id, "previous_response_id");
  return chain.flatMap((round) => {
    if (round.content === undefined) {
      throw new GatewayError(
        "validation_failed",
        `previous_response_id: the conversation is kept by the provider ${round.provider} and can only be continued there.`,
        { param: "previous_response_id" },
      );
    }
    return roundOf(round);
  });
}

/** What went in and came out. */
function roundOf(round: StoredResponse): unknown[] {
  const output = parseObject(round.content?.response ?? "")?.["output"];
  const items: readonly unknown[] = Array.isArray(output) ? output : [];
  return [...inputOf(round), ...items];
}

function itemWith(id: string, items: readonly unknown[]): JsonObject | undefined {
  return items.map(objectOf).find((item) => item?.["id"] === id);
}

/** The input with each item that is only named in its place. */
function withNamed({ input }: JsonObject, named: ReadonlyMap<string, JsonObject>): unknown[] {
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  return items.map((item) => {
    const id = objectOf(item)?.["id"];
    return objectOf(item)?.["content"] === undefined && typeof id === "string" ? (named.get(id) ?? item) : item;
  });
}

function inputOf({ content }: StoredResponse): unknown[] {
  const items: unknown = content === undefined ? [] : JSON.parse(content.input);
  return Array.isArray(items) ? items : [];
}

function notFound(id: string, param?: string): GatewayError {
  const message = `There is no response ${JSON.stringify(id.slice(0, 80))}.`;
  return new GatewayError("response_not_found", message, param === undefined ? {} : { param });
}
