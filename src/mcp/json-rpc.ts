/** JSON-RPC 2.0, as far as MCP uses it: one message a body. Revisions of 2025-06-18 and newer have no batches. */
import { type JsonObject, objectOf } from "../core/index.ts";

/** Notifications have none. */
export type RpcId = string | number;

export interface RpcRequest {
  /** Undefined for a notification. */
  id: RpcId | undefined;
  method: string;
  params: JsonObject;
}

/** The codes of JSON-RPC, and MCP's own (basic/index, "Error codes", of 2026-07-28). */
export const rpcCodes = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** Of revision 2025-11-25 alone. */
  urlRequired: -32_042,
} as const;

/** A refusal in the words of the protocol. Failures of a tool are results instead. */
export class RpcError extends Error {
  readonly code: number;
  /** The HTTP status, by revision 2026-07-28; older ones answer 200 to everything that has an id. */
  readonly status: number;
  readonly data: JsonObject | undefined;

  constructor(code: number, message: string, { status = 200, data }: { status?: number; data?: JsonObject } = {}) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export function invalidParams(message: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, message);
}

/** The error by which a client of 2025-11-25 learns of addresses that the user opens before the call is made again. */
export function urlRequired(addresses: readonly { url: string; message: string }[]): RpcError {
  const elicitations = addresses.map(({ url, message }) => ({ mode: "url", elicitationId: url, url, message }));
  const text = addresses.map(({ message }) => message).join(" ");
  return new RpcError(rpcCodes.urlRequired, text, { data: { elicitations } });
}

/** The message of a body. Undefined for a client's answer to a question. */
export function readMessage(message: JsonObject): RpcRequest | undefined {
  if (message["jsonrpc"] !== "2.0") throw invalidRequest("This is no message of JSON-RPC 2.0.");
  const { id, method, params } = message;
  if (id !== undefined && !isId(id)) throw invalidRequest("id must be a text or a whole number.");
  if (method === undefined && ("result" in message || "error" in message)) return undefined;
  if (typeof method !== "string") throw invalidRequest("method must be a text.");
  const read = params === undefined ? {} : objectOf(params);
  if (read === undefined) throw invalidRequest("params must be an object.");
  return { id, method, params: read };
}

function isId(value: unknown): value is RpcId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

function invalidRequest(message: string): RpcError {
  return new RpcError(rpcCodes.invalidRequest, message, { status: 400 });
}

/** A response, or the error of a message whose id could not be read. */
export function errorText(id: RpcId | undefined, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code, message, data } });
}

/** The result is JSON already. */
export function resultText(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

export function requestText(id: RpcId, method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

export function notificationText(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
