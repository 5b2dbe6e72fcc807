import type { Principal } from "../auth/index.ts";
import type { Surface } from "../core/index.ts";
import {
  type Access,
  type PlatformContract,
  platformContract,
  type ProxiedContract,
  proxiedContract,
  type RouteContract,
} from "./contract.ts";
import type { AcceptedSocket } from "./sockets.ts";

/** One request on a route that anybody may call. */
interface PublicCall {
  request: Request;
  requestId: string;
  /** What stands in the path at this parameter, decoded. */
  pathParameter: (name: string) => string;
}

/** One request on a route that needs a token. */
export interface RouteCall extends PublicCall {
  principal: Principal;
}

type CallOf<A extends Access> = A extends "public" ? PublicCall : RouteCall;

/** What a route asks of its callers that is not public. */
type Guarded = Exclude<Access, "public">;

type Handler<A extends Access> = (call: CallOf<A>) => Response | Promise<Response>;

/** Refuses a WebSocket by an ordinary answer, or takes it. */
type SocketAnswer = Response | AcceptedSocket;

type SocketRouteHandler = (call: RouteCall) => SocketAnswer | Promise<SocketAnswer>;

/** Where a route is, and whose API it belongs to: that decides the shape of its errors. */
interface Place {
  method: "get" | "post" | "patch" | "delete";
  /** With its parameters in braces: `/v1/responses/{response_id}`. */
  path: string;
  surface: Surface;
}

/** A route, declared; `Needs` are the services that its handler is made of. */
export interface HttpRoute<Needs, A extends Access> extends Place {
  kind: "http";
  access: A;
  /** A route without one is not in the OpenAPI document. */
  contract?: RouteContract;
  mount: (services: Needs) => Handler<A>;
}

/** A route for WebSockets; any other request there gets 426. It is not in the OpenAPI document, which knows none. */
interface SocketRoute<Needs> extends Place {
  kind: "websocket";
  method: "get";
  access: Guarded;
  contract?: never;
  mount: (services: Needs) => SocketRouteHandler;
}

export type Route<Needs> = HttpRoute<Needs, "public"> | HttpRoute<Needs, Guarded> | SocketRoute<Needs>;

interface Mounted<Kind, A extends Access, Handle> extends Place {
  kind: Kind;
  access: A;
  handle: Handle;
}

/** A route whose handler has its services. */
export type MountedRoute =
  | Mounted<"http", "public", Handler<"public">>
  | Mounted<"http", Guarded, Handler<Guarded>>
  | Mounted<"websocket", Guarded, SocketRouteHandler>;

export function mountRoute<Needs>(route: Route<Needs>, services: Needs): MountedRoute {
  const { method, path, surface } = route;
  const place = { method, path, surface };
  // One by one, so that the compiler sees which handler goes with which access and kind.
  if (route.kind === "websocket") {
    return { ...place, kind: route.kind, access: route.access, handle: route.mount(services) };
  }
  if (route.access === "public") {
    return { ...place, kind: route.kind, access: route.access, handle: route.mount(services) };
  }
  return { ...place, kind: route.kind, access: route.access, handle: route.mount(services) };
}

interface PlatformRoute<Needs, A extends Access> {
  contract: PlatformContract;
  access: A;
  mount: (services: Needs) => Handler<A>;
}

/** A route that the gateway answers by itself, in OpenAI's shape. */
export function platformRoute<Needs, A extends Access>(route: PlatformRoute<Needs, A>): HttpRoute<Needs, A> {
  const { contract, access, mount } = route;
  const { method = "get", path } = contract;
  return {
    kind: "http",
    method,
    path,
    surface: "openai",
    access,
    contract: platformContract(contract, access),
    mount,
  };
}

interface ProxiedRoute<Needs> {
  contract: ProxiedContract;
  surface: Surface;
  mount: (services: Needs) => Handler<"token">;
}

/** A `POST` whose answer is an upstream's. */
export function proxiedRoute<Needs>({ contract, surface, mount }: ProxiedRoute<Needs>): HttpRoute<Needs, "token"> {
  return {
    kind: "http",
    method: "post",
    path: contract.path,
    surface,
    access: "token",
    contract: proxiedContract(contract),
    mount,
  };
}
