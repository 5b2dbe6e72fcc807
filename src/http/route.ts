import type { Principal, SocketCaller } from "../auth/index.ts";
import type { ModelOf } from "../bodies/index.ts";
import type { PaidAnswer } from "../charges/index.ts";
import type { AcceptedSocket, Role, Surface } from "../core/index.ts";
import {
  type Access,
  type PlatformContract,
  platformContract,
  type ProxiedContract,
  proxiedContract,
  type RouteContract,
} from "./contract.ts";

/** One request on a public route. */
interface PublicCall {
  request: Request;
  requestId: string;
  /** The decoded path parameter with this name. */
  pathParameter: (name: string) => string;
}

/** One request on a route that needs a token. */
export interface RouteCall extends PublicCall {
  principal: Principal;
  /** The model, if the request's address decides about it; only for routes with `namesModel`. */
  modelOf?: ModelOf | undefined;
  /** The prefix of the provider in whose group the request is (`/v1/{prefix}/…`). */
  provider?: string | undefined;
}

/** One handshake on a route whose callers may present a client secret, or a subprotocol in place of a header. */
export interface SessionCall extends RouteCall {
  caller: SocketCaller;
}

type CallOf<A extends Access> = A extends "public" ? PublicCall : RouteCall;

/** The requirements for callers of a route that is not public. */
type Guarded = Exclude<Access, "public">;

/** A paid answer becomes a response once its request's id is added. */
type Answered = Response | PaidAnswer;

type Handler<A extends Access, Given extends Answered> = (call: CallOf<A>) => Given | Promise<Given>;

/** Refuses a WebSocket with an ordinary answer, or accepts it. */
type SocketAnswer = Response | AcceptedSocket;

type SocketRouteHandler<Call> = (call: Call) => SocketAnswer | Promise<SocketAnswer>;

/** The position of a route, and its API, which determines the format of its errors. */
interface Place {
  method: "get" | "post" | "patch" | "delete" | "put";
  /** With its parameters in braces: `/v1/responses/{response_id}`. */
  path: string;
  /** The value of the last parameter may contain slashes. A word may follow it after a colon: `{model}:generateContent`. */
  takesSlashes?: boolean;
  /** Whether its calls name a model in their body; then their address may decide about it. */
  namesModel?: boolean;
  /** Whether it is in the groups of providers (`/v1/{prefix}/…`) too, although it names no model. */
  isGrouped?: boolean;
  /** Those that a route with `access: "roles"` is for. */
  roles?: readonly Role[] | undefined;
  /** A function if two APIs have the route, and a request's headers decide between them. */
  surface: Surface | ((headers: Headers, url: string) => Surface);
}

/** The declaration of a route; `Needs` are the services that its handler requires. */
export interface HttpRoute<Needs, A extends Access, Given extends Answered = Response> extends Place {
  kind: "http";
  access: A;
  /** A route without a contract is not in the OpenAPI document. */
  contract?: RouteContract;
  handle: (call: CallOf<A>, services: Needs) => Given | Promise<Given>;
}

/** A route whose answers are paid for. */
export type PaidRoute<Needs> = HttpRoute<Needs, "token", Answered>;

/**
 * A route for WebSockets; any other request to it gets 426. It is not in the OpenAPI document, which cannot describe
 * it.
 */
interface SocketRoute<Needs> extends Place {
  kind: "websocket";
  method: "get";
  access: Guarded;
  contract?: never;
  handle: (call: RouteCall, services: Needs) => SocketAnswer | Promise<SocketAnswer>;
}

/** A route for WebSockets that browsers open too. */
interface SessionRoute<Needs> extends Place {
  kind: "session";
  method: "get";
  /** Of its handshake. */
  contract?: RouteContract;
  handle: (call: SessionCall, services: Needs) => SocketAnswer | Promise<SocketAnswer>;
}

/**
 * A WebSocket at the path of an http route, whose callers may send their token as the subprotocol, as Firecrawl's SDK does. The
 * subprotocol is repeated in the answer.
 */
interface WatchRoute<Needs> extends Place {
  kind: "watch";
  method: "get";
  contract?: never;
  handle: (call: RouteCall, services: Needs) => SocketAnswer | Promise<SocketAnswer>;
}

export type Route<Needs> =
  | HttpRoute<Needs, "public">
  | HttpRoute<Needs, Guarded, Answered>
  | SocketRoute<Needs>
  | SessionRoute<Needs>
  | WatchRoute<Needs>;

interface Mounted<Kind, A extends Access, Handle> extends Place {
  kind: Kind;
  access: A;
  handle: Handle;
}

/** A route whose handler has its services. */
export type MountedRoute =
  | Mounted<"http", "public", Handler<"public", Response>>
  | Mounted<"http", Guarded, Handler<Guarded, Answered>>
  | Mounted<"websocket", Guarded, SocketRouteHandler<RouteCall>>
  | Mounted<"session", "token", SocketRouteHandler<SessionCall>>
  | Mounted<"watch", "token", SocketRouteHandler<RouteCall>>;

export function mountRoute<Needs>(route: Route<Needs>, services: Needs): MountedRoute {
  const { method, path, surface, takesSlashes = false, namesModel = false, isGrouped = false, roles } = route;
  const place = { method, path, surface, takesSlashes, namesModel, isGrouped, roles };
  // Case by case, so that the compiler relates each handler to its access and kind.
  if (route.kind === "session") {
    return { ...place, kind: route.kind, access: "token", handle: (call) => route.handle(call, services) };
  }
  if (route.kind === "watch") {
    return { ...place, kind: route.kind, access: "token", handle: (call) => route.handle(call, services) };
  }
  if (route.kind === "websocket") {
    return { ...place, kind: route.kind, access: route.access, handle: (call) => route.handle(call, services) };
  }
  if (route.access === "public") {
    return { ...place, kind: route.kind, access: route.access, handle: (call) => route.handle(call, services) };
  }
  return { ...place, kind: route.kind, access: route.access, handle: (call) => route.handle(call, services) };
}

interface PlatformRoute<Needs, A extends Access> extends Partial<
  Pick<Place, "surface" | "takesSlashes" | "roles" | "isGrouped">
> {
  contract: PlatformContract;
  access: A;
  handle: (call: CallOf<A>, services: Needs) => Response | Promise<Response>;
}

/** A route answered by the gateway itself, in OpenAI's format unless it has another surface. */
export function platformRoute<Needs, A extends Access>(route: PlatformRoute<Needs, A>): HttpRoute<Needs, A> {
  const { contract, access, handle, surface = "openai", takesSlashes = false, isGrouped = false, roles } = route;
  const { method = "get", path } = contract;
  return {
    kind: "http",
    method,
    path,
    takesSlashes,
    isGrouped,
    roles,
    surface,
    access,
    contract: platformContract(contract, access, typeof surface === "string" ? surface : "openai"),
    handle,
  };
}

interface ProxiedRoute<Needs> extends Partial<Pick<Place, "takesSlashes" | "namesModel">> {
  contract: ProxiedContract;
  surface: Place["surface"];
  handle: (call: RouteCall, services: Needs) => Answered | Promise<Answered>;
}

/** A `POST` answered by an upstream. */
export function proxiedRoute<Needs>({
  contract,
  surface,
  takesSlashes = false,
  namesModel = false,
  handle,
}: ProxiedRoute<Needs>): PaidRoute<Needs> {
  return {
    kind: "http",
    method: "post",
    path: contract.path,
    takesSlashes,
    namesModel,
    surface,
    access: "token",
    contract: proxiedContract(contract, typeof surface === "string" ? surface : "openai"),
    handle,
  };
}
