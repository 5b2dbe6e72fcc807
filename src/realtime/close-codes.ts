/** The codes that sockets of sessions are closed with (RFC 6455, "Defined Status Codes"). */
import type { GatewayError } from "../core/index.ts";

export const SESSION_CLOSED = 1000;
const POLICY = 1008;
const FAILED = 1011;
const RESTARTS = 1012;

/** The code and reason that a socket is closed with because of an error. */
export function closeCodeFor(error: GatewayError): { code: number; reason: string } {
  if (error.code === "shutting_down") return { code: RESTARTS, reason: error.code };
  return { code: error.fault === "client" ? POLICY : FAILED, reason: error.code };
}

/** The code of the other side, if it may be sent; undefined if the connection broke off. A missing code means a usual end. */
export function relayedCode(code: number): number | undefined {
  if (code === 1005) return SESSION_CLOSED;
  const isKnown = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
  return isKnown || (code >= 3000 && code <= 4999) ? code : undefined;
}
