import { getPath } from "hono/utils/url";
import { type Authenticator, googleToken, type Principal } from "../auth/index.ts";
import type { PaidAnswer } from "../charges/index.ts";
import {
  type AcceptedSocket,
  clientRequestIdOf,
  type Environment,
  errorBody,
  errorStatus,
  firecrawlV1Names,
  GatewayError,
  idHeaders,
  requestId,
  type Surface,
  shuttingDown,
  toGatewayError,
} from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { withUrl } from "./addresses/derived-request.ts";
import { findRoute, type FoundRoute, type ModelGroups } from "./addresses/find-route.ts";
import { challengeOf } from "./challenge.ts";
import { googleAdvice, hasGoogleMethod, isGooglePath } from "./gemini/unknown-paths.ts";
import type { MountedRoute, RouteCall } from "./route.ts";
import { createRouter, type RoutedRequest } from "./router.ts";
import { type Sockets, requireHandshake } from "./sockets.ts";

export interface HttpOptions {
  routes: readonly MountedRoute[];
  authenticator: Authenticator;
  sockets: Sockets;
  environment: Pick<Environment, "clock" | "randomBytes">;
  logger: Logger;
  groups: ModelGroups;
  /** The address for callers. */
  publicUrl: string;
  /** Whether new calls are refused because the server is stopping. */
  draining: () => boolean;
  /** The caller as who reads what belongs to a project of theirs. Rejects with a 404 if it is none. */
  readAsProject: (caller: Principal, project: string) => Promise<Principal>;
}

/** The API of an unknown path, for the format of its 404. */
function surfaceOf(path: string): Surface {
  if (path.startsWith("/v1/messages")) return "anthropic";
  if (isGooglePath(path)) return "gemini";
  if (path === "/mcp" || path.startsWith("/mcp/")) return "mcp";
  if (firecrawlV1Path.test(path)) return "firecrawl_v1";
  return path.startsWith("/v2/") ? "firecrawl" : "openai";
}

const firecrawlV1Path = new RegExp(`^/v1/(?:${firecrawlV1Names.join("|")})(?:/|$)`);

const shownPathCharacters = 200;

/** Also for a path that exists: the contract has no 405. */
function notFound(method: string, path: string, methods: readonly string[]): GatewayError {
  const shown = path.slice(0, shownPathCharacters);
  const advice = googleAdvice(path);
  // Another model has that name at most: ids may have colons.
  if (methods.length === 0 || hasGoogleMethod(path))
    return new GatewayError("route_not_found", `There is no ${method} ${shown} here.${advice}`);
  const allow = methods.flatMap((each) => (each === "GET" ? [each, "HEAD"] : [each])).join(", ");
  return new GatewayError("route_not_found", `There is no ${method} ${shown} here. It takes ${allow}.${advice}`, {
    headers: { allow },
  });
}

/** The HTTP surface: routes requests, authenticates them, and turns every error into the error body of its surface. */
export function createHttp(options: HttpOptions): (request: Request) => Response | Promise<Response> {
  const { clock, randomBytes } = options.environment;
  const router = createRouter(options.routes);
  const finding = { router, groups: options.groups };
  const handle = (request: Request, method: string): Response | Promise<Response> => {
    const id = requestId(clock, randomBytes);
    const path = getPath(request);
    // Bun joins the values of a repeated header. A proxy in front may have decided by another one than the gateway's.
    if (request.headers.get("host")?.includes(",") === true)
      return refusal(options, { request, surface: surfaceOf(path), id }, hostRepeated());
    const found = findRoute(finding, request, method, path);
    if (found !== undefined) return answer(options, found, id, path);
    const error = notFound(method, path, router.methodsOf(path));
    return refusal(options, { request, surface: surfaceOf(path), id }, error);
  };
  return (received) => {
    const request = withHost(received);
    return request.method === "HEAD" ? headOf(handle(request, "GET")) : handle(request, request.method);
  };
}

/**
 * Bun leaves a path alone as the URL of a request without a valid `Host` (a load balancer's check over HTTP/1.0). Every reader of
 * the URL expects a whole one.
 */
function withHost(request: Request): Request {
  return request.url.startsWith("/") ? withUrl(`http://localhost${request.url}`, request) : request;
}

/** The answer to a GET, without its body. */
async function headOf(answered: Response | Promise<Response>): Promise<Response> {
  const { status, headers, body } = await answered;
  await body?.cancel();
  return new Response(null, { status, headers });
}

async function answer(
  options: HttpOptions,
  { route, pathParameter, request, modelOf, provider }: FoundRoute,
  id: string,
  path: string,
): Promise<Response> {
  const surface = typeof route.surface === "function" ? route.surface(request.headers, request.url) : route.surface;
  const headers = idHeaders(surface, id);
  try {
    if (route.access === "public") {
      return withHeaders(await route.handle({ request, requestId: id, pathParameter }), headers);
    }
    if (route.kind === "watch") return await answerWatch(options, { route, pathParameter, headers }, request, id);
    if (route.kind === "session")
      return await answerSession(options, { route, pathParameter, headers, path }, request, id);
    if (options.draining()) throw shuttingDown();
    // Most tokens are cached, and need no promise.
    const offered = surface === "gemini" ? googleToken(request) : undefined;
    const admitted = options.authenticator.authenticate(request.headers, offered, { request, requestId: id, path });
    const caller = admitted instanceof Promise ? await admitted : admitted;
    const project = request.headers.get(PROJECT_HEADER);
    const principal = project === null ? caller : await readerOf(options, { route, request, caller, project });
    if (route.access === "roles" && route.roles?.includes(principal.role) !== true) throw roleRequired(principal);
    const call: RouteCall = { request, requestId: id, principal, pathParameter, modelOf, provider };
    if (provider !== undefined) requireGroup(options, request, provider);
    if (route.kind === "http") return withHeaders(await route.handle(call), headers);
    return await openSocket(options, { call, headers, handle: () => route.handle(call) });
  } catch (thrown) {
    return refusal(options, { request, surface, id, path: route.path }, thrown);
  }
}

/** Names a project whose things the caller, a member of it, reads in place of their own. */
const PROJECT_HEADER = "x-tollgate-project";

interface NamedProject {
  route: MountedRoute;
  request: Request;
  caller: Principal;
  project: string;
}

/** What a call makes belongs to who pays for it: the members of a project make calls with its tokens, and only read with their own. */
function readerOf(
  { readAsProject }: HttpOptions,
  { route, request, caller, project }: NamedProject,
): Promise<Principal> {
  const reads =
    route.kind === "http" && route.access === "token" && (request.method === "GET" || request.method === "HEAD");
  if (reads) return readAsProject(caller, project.trim());
  const message = `${PROJECT_HEADER}: only for reading; make calls with a token of the project.`;
  throw new GatewayError("validation_failed", message, { param: PROJECT_HEADER });
}

type SessionRoute = Extract<MountedRoute, { kind: "session" }>;

/** Authenticates the handshake of a session, which may use a client secret, and accepts it. */
async function answerSession(
  options: HttpOptions,
  {
    route,
    pathParameter,
    headers,
    path,
  }: RoutedRequest & { route: SessionRoute; headers: Readonly<Record<string, string>>; path: string },
  request: Request,
  id: string,
): Promise<Response> {
  refuseWhileDraining(options);
  const caller = await options.authenticator.authenticateSocket(request, id, path);
  const call = { request, requestId: id, principal: caller.principal, caller, pathParameter };
  return openSocket(options, { call, headers, handle: () => route.handle(call) });
}

type WatchRoute = Extract<MountedRoute, { kind: "watch" }>;

/** Authenticates the handshake of a watcher by its subprotocol, unless it has a header, and accepts it. */
async function answerWatch(
  options: HttpOptions,
  { route, pathParameter, headers }: RoutedRequest & { route: WatchRoute; headers: Readonly<Record<string, string>> },
  request: Request,
  id: string,
): Promise<Response> {
  refuseWhileDraining(options);
  const protocol = request.headers.get("sec-websocket-protocol") ?? undefined;
  const presented = request.headers.has("authorization") || protocol === undefined;
  const credentials = presented ? request.headers : new Headers({ authorization: `Bearer ${protocol}` });
  const principal = await options.authenticator.authenticate(credentials, undefined, { request, requestId: id });
  const call = { request, requestId: id, principal, pathParameter };
  return openSocket(options, { call, headers, handle: () => route.handle(call), protocol });
}

interface SocketOpening {
  call: RouteCall;
  headers: Readonly<Record<string, string>>;
  handle: () => Response | AcceptedSocket | Promise<Response | AcceptedSocket>;
  protocol?: string | undefined;
}

/** Reserves the memory of a socket, and opens it if its route accepts it. */
async function openSocket({ sockets }: HttpOptions, opening: SocketOpening): Promise<Response> {
  const { call, headers, handle, protocol } = opening;
  const { request, requestId: id, principal } = call;
  requireHandshake(request);
  const memory = sockets.reserve(principal.user);
  let answered: Response | AcceptedSocket;
  try {
    answered = await handle();
  } catch (thrown) {
    memory.free();
    throw thrown;
  }
  if (answered instanceof Response) {
    memory.free();
    return withHeaders(answered, headers);
  }
  const accepted = protocol === undefined ? answered : { ...answered, protocol };
  return sockets.accept({ request, requestId: id, principal, headers, memory }, accepted);
}

function refuseWhileDraining({ draining }: HttpOptions): void {
  if (draining()) throw shuttingDown();
}

/** The caller is known by then: nobody else learns which providers there are. */
function requireGroup({ groups }: HttpOptions, request: Request, provider: string): void {
  if (groups.withPrefix(provider) === undefined) throw notFound(request.method, getPath(request), []);
}

function hostRepeated(): GatewayError {
  return new GatewayError("host_repeated", "Send one Host header.");
}

function roleRequired({ role }: Principal): GatewayError {
  return new GatewayError("role_required", `The role ${role} does not have this.`);
}

function withHeaders(answered: Response | PaidAnswer, headers: Readonly<Record<string, string>>): Response {
  if (!(answered instanceof Response)) {
    const { status, headers: own, body } = answered;
    return new Response(body, { status, headers: { ...own, ...headers } });
  }
  for (const name in headers) answered.headers.set(name, headers[name] ?? "");
  return answered;
}

interface RefusedRequest {
  request: Request;
  surface: Surface;
  id: string;
  /** As declared, without the values of its parameters, which may contain anything; undefined for a path that is none. */
  path?: string;
}

/** The answer for any exception. The gateway's own faults are logged with their cause, which the caller never gets. */
function refusal(
  { logger, publicUrl }: HttpOptions,
  { request, surface, id, path }: RefusedRequest,
  thrown: unknown,
): Response {
  const error = toGatewayError(thrown);
  const line = {
    request_id: id,
    client_request_id: clientRequestIdOf(request.headers),
    method: request.method,
    path,
    status: error.status,
    error: error.code,
  };
  if (error.fault === "gateway" && error.cause !== undefined) logger.error({ ...line, err: error.cause }, "failed");
  else logger.info(line, "refused");
  const headers: Record<string, string> = { ...error.headers, ...idHeaders(surface, id) };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(error.retryAfterSeconds);
  if (error.status === 401) headers["www-authenticate"] = challengeOf(surface, publicUrl, getPath(request));
  // Otherwise the remainder of the body could arrive without end.
  if (error.code === "request_timeout") headers["connection"] = "close";
  return Response.json(errorBody(surface, error, id), { status: errorStatus(surface, error), headers });
}
