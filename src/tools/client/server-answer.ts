/** The answer of a server to one request, and the errors that it may be. */
import { GatewayError, type JsonObject, objectOf } from "../../core/index.ts";

/** An error in the words of the protocol. */
export class ServerError extends Error {
  readonly code: number;
  readonly data: JsonObject | undefined;

  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.name = "ServerError";
    this.code = code;
    this.data = data;
  }
}

export interface Answered {
  status: number;
  /** Undefined if the body contained no response. */
  message: JsonObject | undefined;
  /** Whether a stream ended before the response. */
  isCut: boolean;
  session: string | null;
}

/** Statuses of a proxy before a server, or of a server that cannot answer now. */
const UNREACHABLE: ReadonlySet<number> = new Set([502, 503, 504]);

/** The result of an answer. Throws a `ServerError` or a `GatewayError` (502) if it has none. `name`: of the server. */
export function resultOf(name: string, { status, message, isCut }: Answered): JsonObject {
  const error = objectOf(message?.["error"]);
  if (error !== undefined) {
    const { code, message: text } = error;
    throw new ServerError(
      typeof code === "number" ? code : 0,
      typeof text === "string" ? text : "It refused the call.",
      objectOf(error["data"]),
    );
  }
  const result = objectOf(message?.["result"]);
  if (result !== undefined) return result;
  refuseStatus(name, status);
  if (isCut) throw new GatewayError("upstream_interrupted", `The server ${name} has ended its answer too early.`);
  throw invalidAnswer(name, "answers without a result");
}

/** Throws a `GatewayError` for a status that no server of the protocol answers with. */
export function refuseStatus(name: string, status: number): void {
  if (status === 401 || status === 403)
    throw new GatewayError("provider_key_refused", `The server ${name} refuses the gateway's credentials.`);
  if (UNREACHABLE.has(status))
    throw new GatewayError("upstream_unreachable", `The server ${name} answers with ${status}.`);
  if (status >= 500) throw invalidAnswer(name, `answers with ${status}`);
}

export function invalidAnswer(name: string, problem: string): GatewayError {
  return new GatewayError("upstream_invalid_answer", `The server ${name} ${problem}.`);
}
