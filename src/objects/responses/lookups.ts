/** Looks up, lists and deletes stored responses. Free, wherever they are stored. */
import type { Principal } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import type { ModelRouter } from "../../routing/index.ts";
import { type AskDependencies, askUpstream, type UpstreamCall } from "../../sending/index.ts";
import type { ResponseStoreService } from "./response-store-service.ts";
import type { StoredResponse } from "./store.ts";

export interface StoredResponseDependencies {
  asking: AskDependencies;
  router: ModelRouter;
  responseStore: ResponseStoreService;
}

/** A call about one response, with its query. */
export interface StoredResponseCall {
  id: string;
  principal: Principal;
  request: Request;
}

/** `GET /v1/responses/{id}`. Throws 404 if the caller has no such response. */
export async function getResponse(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  const stored = await deps.responseStore.find(call.id, call.principal);
  if (new URL(call.request.url).searchParams.get("stream") === "true") {
    throw new GatewayError("validation_failed", "stream: only a new response is streamed.", { param: "stream" });
  }
  if (stored.content !== undefined) return json(stored.content.response);
  return askProvider(deps, call, stored, {
    subpath: `/${encodeURIComponent(stored.id)}${queryOf(call)}`,
    method: "GET",
  });
}

/** `GET /v1/responses/{id}/input_items`, in OpenAI's list format with cursors; newest first by default. */
export async function listInputItems(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  const stored = await deps.responseStore.find(call.id, call.principal);
  const page = readPage(call);
  if (stored.content !== undefined)
    return Response.json(pageOf(await deps.responseStore.inputOf(stored.id, call.principal), page));
  const subpath = `/${encodeURIComponent(stored.id)}/input_items${queryOf(call)}`;
  return askProvider(deps, call, stored, { subpath, method: "GET" });
}

/** `DELETE /v1/responses/{id}`. The upstream's copy is deleted first, so that a failure there can be retried. */
export async function deleteResponse(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  const stored = await deps.responseStore.find(call.id, call.principal);
  if (stored.content === undefined) {
    const answer = await askProvider(deps, call, stored, {
      subpath: `/${encodeURIComponent(stored.id)}`,
      method: "DELETE",
    });
    if (!answer.ok && answer.status !== 404) return answer;
  }
  await deps.responseStore.remove(stored.id, call.principal);
  return Response.json({ id: stored.id, object: "response", deleted: true });
}

/** Sends the request to the provider that stores the response. */
function askProvider(
  { asking, router }: StoredResponseDependencies,
  { request }: StoredResponseCall,
  { provider, keyId }: StoredResponse,
  what: Required<Pick<UpstreamCall, "subpath" | "method">>,
): Promise<Response> {
  const route = router.routes.find(({ prefix }) => prefix === provider);
  const operation = route?.provider.operations.responses;
  if (route === undefined || operation?.storesAnswers === undefined) {
    throw new GatewayError("unsupported_operation", `The provider ${provider} can't be asked for this.`);
  }
  return askUpstream(asking, request, { target: { route, operation }, pinnedKeyId: keyId, ...what });
}

const json = (text: string): Response => new Response(text, { headers: { "content-type": "application/json" } });

function queryOf({ request }: StoredResponseCall): string {
  return new URL(request.url).search;
}

/** The default and the maximum number of items per page, as in OpenAI's lists. */
const PAGE_ITEMS = 20;
const PAGE_ITEMS_MAX = 100;

interface Page {
  isAscending: boolean;
  limit: number;
  /** The id of the item before it. */
  after: string | null;
}

/** Also the page of a list that the provider stores: it would refuse other values with a status of its own. */
function readPage({ request }: StoredResponseCall): Page {
  const query = new URL(request.url).searchParams;
  const limit = limitOf(query.get("limit"));
  return { isAscending: isAscending(query.get("order")), limit, after: query.get("after") };
}

function pageOf(items: readonly unknown[], { isAscending: ascends, limit, after }: Page) {
  const ordered = ascends ? items : items.toReversed();
  const from = after === null ? 0 : ordered.findIndex((item) => idOf(item) === after) + 1;
  if (after !== null && from === 0) {
    throw new GatewayError("validation_failed", "after: there is no such item.", { param: "after" });
  }
  const data = ordered.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: from + limit < ordered.length,
  };
}

function isAscending(order: string | null): boolean {
  if (order === null || order === "asc" || order === "desc") return order === "asc";
  throw new GatewayError("validation_failed", "order: must be asc or desc.", { param: "order" });
}

function limitOf(asked: string | null): number {
  if (asked === null) return PAGE_ITEMS;
  const limit = Number(asked);
  if (Number.isInteger(limit) && limit >= 1 && limit <= PAGE_ITEMS_MAX) return limit;
  throw new GatewayError("validation_failed", `limit: must be a whole number from 1 to ${PAGE_ITEMS_MAX}.`, {
    param: "limit",
  });
}

function idOf(item: unknown): string | null {
  return typeof item === "object" && item !== null && "id" in item && typeof item.id === "string" ? item.id : null;
}
