/** The gateway's own tools, as tools of models: each is an operation of one of its routes. */
import type { Principal } from "../../auth/index.ts";
import type { GatewayError, JsonObject } from "../../core/index.ts";
import type { ToolCaller } from "../../tools/index.ts";

/** The name of the server that has them, which no other server has. */
export const OWN = "tollgate";

export interface OwnTools {
  /** The refusal of a call for want of an account at a server, with the page on which the caller connects one. */
  connect: (server: string, caller: AccountCaller) => Promise<GatewayError>;
  /** Those that the caller may call, as MCP describes tools. */
  definitions: (principal: Principal) => readonly JsonObject[];
  /** The result, and the headers of the route's answer. Rejects with the `GatewayError` of the route. */
  call: (call: OwnToolCall) => Promise<{ result: JsonObject; headers: Readonly<Record<string, string>> }>;
  /** The image at an address, in base64, read behind the guard of addresses. Rejects with 422 if there is none. */
  image: (url: string, signal: AbortSignal) => Promise<string>;
}

interface AccountCaller {
  principal: Principal;
  requestId: string;
  /** Of whom the account would be. */
  from: Pick<ToolCaller, "accountAt" | "signedToken">;
}

interface OwnToolCall {
  name: string;
  arguments: JsonObject;
  requestId: string;
  principal: Principal;
  headers: Headers;
  signal: AbortSignal;
}
