import {
  deleteResponse,
  getResponse,
  listInputItems,
  type StoredResponseCall,
  type StoredResponseDependencies,
} from "../calls/index.ts";
import { deleteResponseContract, getResponseContract, listInputItemsContract } from "./response.contract.ts";
import type { HttpRoute } from "./route.ts";
import type { RouteContract } from "./shared.contract.ts";

type Handle = (deps: StoredResponseDependencies, call: StoredResponseCall) => Promise<Response>;

const handlers: readonly (readonly [RouteContract, Handle])[] = [
  [getResponseContract, getResponse],
  [deleteResponseContract, deleteResponse],
  [listInputItemsContract, listInputItems],
];

/** The routes of a response that was kept. */
export function responseRoutes(deps: StoredResponseDependencies): HttpRoute[] {
  return handlers.map(([contract, handle]) => ({
    contract,
    surface: "openai",
    access: "token",
    handle: (call) => handle(deps, { ...call, id: call.pathParameter("response_id") }),
  }));
}
