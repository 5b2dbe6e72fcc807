import type { Surface } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { RouteContract } from "./shared.contract.ts";

/** One request on a route that needs a token. */
export interface RouteCall {
  request: Request;
  requestId: string;
  principal: Principal;
  /** What stands in the path at this parameter of the contract, decoded. */
  pathParameter: (name: string) => string;
}

/** A route: what it declares, and what it does. */
export type HttpRoute =
  | {
      contract: RouteContract;
      surface: Surface;
      access: "public";
      handle: (request: Request) => Response | Promise<Response>;
    }
  | {
      contract: RouteContract;
      surface: Surface;
      access: "token";
      handle: (call: RouteCall) => Response | Promise<Response>;
    };
