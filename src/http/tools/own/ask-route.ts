/** Performs the operation of a route for a tool, as the same request over HTTP would. */
import { GatewayError, objectOf, parseObject, type JsonObject } from "../../../core/index.ts";
import type { ToolAnswer, ToolResult } from "../../../mcp/index.ts";
import { cleanObject } from "../../../tools/index.ts";
import type { PaidRoute } from "../../route.ts";
import type { Services } from "../../services.ts";
import type { OwnCall } from "./own-tool.ts";

/** Headers of the route's answer that describe the call. */
const passedOn = ["x-tollgate-credits", "x-tollgate-credits-held", "x-tollgate-sandbox"] as const;

type AnyRoute = Pick<PaidRoute<Services>, "handle" | "path" | "method">;

/** JSON, or a form. Undefined for a `GET`; `query` is appended to the route's path. */
interface RouteRequest {
  body?: JsonObject | FormData;
  query?: string;
}

/** Rejects with the `GatewayError` that the route would answer with. */
export async function askRoute(route: AnyRoute, call: OwnCall, { body, query = "" }: RouteRequest): Promise<Response> {
  const { requestId, principal, services, signal, retryKey, naming } = call;
  const isForm = body instanceof FormData;
  const headers = {
    ...naming,
    ...(body !== undefined && !isForm && { "content-type": "application/json" }),
    ...(retryKey !== undefined && { "idempotency-key": retryKey }),
  };
  const text = isForm || body === undefined ? body : JSON.stringify(body);
  const request = new Request(`http://gateway${route.path}${query}`, {
    method: route.method.toUpperCase(),
    signal,
    headers,
    ...(text !== undefined && { body: text }),
  });
  const answered = await route.handle({ request, requestId, principal, pathParameter: () => "" }, services);
  return answered instanceof Response ? answered : new Response(answered.body, answered);
}

/** The headers of a tool's answer, from those of the route's. */
export function headersOf({ headers }: Response): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of passedOn) {
    const value = headers.get(name);
    if (value !== null) passed[name] = value;
  }
  return passed;
}

/** The refusal of an upstream, as a result that the model reads. Undefined for a success. */
export async function refusalOf(response: Response): Promise<ToolAnswer | undefined> {
  if (response.status < 400) return undefined;
  const text = await response.text();
  const { error } = parseObject(text) ?? {};
  const message = typeof error === "string" ? error : objectOf(error)?.["message"];
  return {
    result: errorResult(typeof message === "string" ? message : `The upstream answered with ${response.status}.`),
    headers: headersOf(response),
  };
}

export function errorResult(message: string, _meta?: JsonObject): ToolResult {
  return { content: [{ type: "text", text: message }], isError: true, ...(_meta && { _meta }) };
}

/** The JSON of an answer. */
export async function jsonOf(response: Response): Promise<JsonObject> {
  const body = parseObject(await response.text());
  if (body === undefined) throw new GatewayError("upstream_invalid_answer", "The answer is no JSON object.");
  return body;
}

/** The result of a route that answers with JSON: as data, and as a text for those that read no data. */
export async function askJson(
  route: AnyRoute,
  call: OwnCall,
  { body, query, text = (answer) => JSON.stringify(answer) }: RouteRequest & { text?: (answer: JsonObject) => string },
): Promise<ToolAnswer> {
  const response = await askRoute(route, call, { ...(body && { body }), ...(query !== undefined && { query }) });
  const refused = await refusalOf(response);
  if (refused !== undefined) return refused;
  const answer = await jsonOf(response);
  return {
    result: { content: [{ type: "text", text: text(answer) }], structuredContent: answer },
    headers: headersOf(response),
  };
}

/** The result of a route that answers with pages: people do not see all that these contain for a model. */
export async function askForPages(
  route: AnyRoute,
  call: OwnCall,
  request: RouteRequest & { text: (answer: JsonObject) => string },
): Promise<ToolAnswer> {
  const { result, headers } = await askJson(route, call, request);
  if (!("content" in result) || result.structuredContent === undefined) return { result, ...(headers && { headers }) };
  const structuredContent = cleanObject(result.structuredContent, []);
  const content = [{ type: "text" as const, text: request.text(structuredContent) }];
  return { result: { ...result, content, structuredContent }, ...(headers && { headers }) };
}

/** The arguments as a body: whole, never as a stream. */
export function bodyOf(call: OwnCall): JsonObject {
  const { stream: _stream, stream_format: _format, ...body } = call.arguments;
  return body;
}
