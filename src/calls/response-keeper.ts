/**
 * Responses that are kept: by their upstream, of which we note whose they are, or by us where the upstream keeps none.
 * A response is found by its owner alone; upstreams know all callers by one key, so that nothing else keeps them apart.
 */
import { type Clock, GatewayError, type JsonObject, limits, objectOf, parseObject } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import { inputItems, referencedItems, responseOfItem, withItems } from "../dialects/index.ts";
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
  /** The client's own body, with the items that it refers to. */
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
   * The client's body with the items that it refers to by their ids, of those that are kept here; itself where it refers
   * to none. Throws 422 for an item that nobody keeps.
   */
  async resolve(
    request: JsonObject,
    { principal, target }: Pick<KeptCall, "principal" | "target">,
  ): Promise<JsonObject> {
    const ids = referencedItems(request);
    if (ids.length === 0) return request;
    const responses = new Set(ids.flatMap((id) => responseOfItem(id) ?? []));
    if (responses.size > limits.referencedResponsesMax) {
      const message = `input: refers to items of more than ${limits.referencedResponsesMax} responses.`;
      throw new GatewayError("validation_failed", message, { param: "input" });
    }
    const kept = new Map<string, JsonObject>();
    for (const response of responses) {
      const stored = await this.#deps.responses.find(response, principal.user, this.#deps.clock());
      for (const value of stored === undefined ? [] : [...inputOf(stored), ...outputOf(stored)]) {
        const item = objectOf(value);
        if (item !== undefined && typeof item["id"] === "string") kept.set(item["id"], item);
      }
    }
    return withItems(request, kept, isKeptUpstream(target));
  }

  /**
   * The body with the rounds before it put in front, where it continues a response that the upstream doesn't know;
   * undefined where it can go as it is. Throws 404 for a response that is not the caller's, and 422 for one that only
   * another provider knows.
   */
  async recall({ principal, target, request, callId }: KeptCall): Promise<JsonObject | undefined> {
    const id = request["previous_response_id"];
    if (id === undefined || id === null) return undefined;
    if (typeof id !== "string")
      throw new GatewayError("validation_failed", "previous_response_id: must be a string", {
        param: "previous_response_id",
      });
    const chain = await this.#deps.responses.chain(id, principal.user, this.#deps.clock());
    const last = chain.at(-1);
    if (last === undefined) throw notFound(id, "previous_response_id");
    if (last.content === undefined && last.provider === target.route.prefix && target.operation.keeps !== undefined) {
      return undefined;
    }
    const { previous_response_id: _, ...rest } = request;
    return { ...rest, input: [...itemsOf(chain, id), ...inputItems(request, callId)] };
  }

  /** Keeps a response, unless the caller doesn't want that. Durable when it resolves. */
  async keep({ principal, target, request, callId }: KeptCall, response: JsonObject): Promise<void> {
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
        : { input: JSON.stringify(inputItems(request, callId)), response: JSON.stringify(response) },
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
export function isKeptUpstream({ operation }: Pick<Target, "operation">): boolean {
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
    return [...inputOf(round), ...outputOf(round)];
  });
}

function outputOf({ content }: StoredResponse): unknown[] {
  const output = content === undefined ? undefined : parseObject(content.response)?.["output"];
  return Array.isArray(output) ? output : [];
}

function inputOf({ content }: StoredResponse): unknown[] {
  const items: unknown = content === undefined ? [] : JSON.parse(content.input);
  return Array.isArray(items) ? items : [];
}

function notFound(id: string, param?: string): GatewayError {
  const message = `There is no response ${JSON.stringify(id.slice(0, 80))}.`;
  return new GatewayError("response_not_found", message, param === undefined ? {} : { param });
}
