/** Looks up, lists and deletes stored responses. Free, wherever they are stored. */
import type { Principal } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import type { ModelRouter } from "../../routing/index.ts";
import { type AskDependencies, askUpstream, type UpstreamCall } from "../../sending/index.ts";
import { EVENT_HEADERS } from "../../streaming/index.ts";
import type { BackgroundResponses } from "../background/background-responses.ts";
import type { BackgroundResponse } from "../background/store.ts";
import { itemPage, readItemPage } from "../item-pages.ts";
import type { ResponseStoreService } from "./response-store-service.ts";
import type { StoredResponse } from "./store.ts";

export interface StoredResponseDependencies {
  asking: AskDependencies;
  router: ModelRouter;
  responseStore: ResponseStoreService;
  background: Pick<BackgroundResponses, "find" | "events" | "cancel" | "remove">;
}

/** A call about one response, with its query. */
export interface StoredResponseCall {
  id: string;
  principal: Principal;
  request: Request;
  requestId: string;
}

/**
 * `GET /v1/responses/{id}`; with `stream=true` the events of one that runs in the background, until some time after its end. Throws
 * 404 if the caller has no such response.
 */
export async function getResponse(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  const running = await deps.background.find(call.id, call.principal);
  const query = new URL(call.request.url).searchParams;
  const streams = asksForEvents(query.get("stream"));
  const after = startingAfter(query.get("starting_after"));
  if (streams && running !== undefined) {
    const body = deps.background.events(running, after, call.requestId);
    return new Response(body, { headers: { ...EVENT_HEADERS, ...headersOf(running) } });
  }
  const isHere = running !== undefined && (running.endedAt === undefined || query.size === 0);
  if (isHere) return runningAnswer(running);
  const stored = await deps.responseStore.find(call.id, call.principal);
  if (streams) {
    const message =
      "stream: only the events of a response in the background are kept, until ten minutes after its end.";
    throw new GatewayError("validation_failed", message, { param: "stream" });
  }
  if (stored.content !== undefined) return json(stored.content.response);
  return askProvider(deps, call, stored, {
    subpath: `/${encodeURIComponent(stored.id)}${queryOf(call)}`,
    method: "GET",
  });
}

function asksForEvents(stream: string | null): boolean {
  if (stream === null || stream === "true" || stream === "false") return stream === "true";
  throw new GatewayError("validation_failed", "stream: must be true or false.", { param: "stream" });
}

const headersOf = ({ workId }: BackgroundResponse) => ({ "x-tollgate-generation-id": workId });

const runningAnswer = (running: BackgroundResponse): Response =>
  Response.json(running.response, { headers: headersOf(running) });

/** The number of the event before the first one; -1 for all of them. */
function startingAfter(given: string | null): number {
  if (given === null) return -1;
  const number = Number(given);
  if (given !== "" && Number.isSafeInteger(number) && number >= 0) return number;
  const message = "starting_after: must be the number of an event.";
  throw new GatewayError("validation_failed", message, { param: "starting_after" });
}

/**
 * `POST /v1/responses/{id}/cancel`: of a response in the background, which is returned as it is then; one that has ended stays as it
 * is. Throws 404 if the caller has no such response, and 422 for one that was answered at once.
 */
export async function cancelResponse(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  const cancelled = await deps.background.cancel(call.id, call.principal);
  if (cancelled !== undefined) return runningAnswer(cancelled);
  await deps.responseStore.find(call.id, call.principal);
  const message = "Only a response that runs in the background can be cancelled; this one has ended.";
  throw new GatewayError("validation_failed", message, { param: "response_id" });
}

/** `GET /v1/responses/{id}/input_items`, in OpenAI's list format with cursors; newest first by default. */
export async function listInputItems(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  const running = await deps.background.find(call.id, call.principal);
  const page = readItemPage(call.request);
  if (running !== undefined && running.endedAt === undefined) {
    return Response.json(itemPage(await deps.responseStore.inputAfter(running, call.principal), page));
  }
  const stored = await deps.responseStore.find(call.id, call.principal);
  if (stored.content !== undefined)
    return Response.json(itemPage(await deps.responseStore.inputOf(stored.id, call.principal), page));
  const subpath = `/${encodeURIComponent(stored.id)}/input_items${queryOf(call)}`;
  return askProvider(deps, call, stored, { subpath, method: "GET" });
}

/** `DELETE /v1/responses/{id}`. The upstream's copy is deleted first, so that a failure there can be retried. */
export async function deleteResponse(deps: StoredResponseDependencies, call: StoredResponseCall): Promise<Response> {
  await deps.background.remove(call.id, call.principal);
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
