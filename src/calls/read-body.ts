import { GatewayError } from "../core/index.ts";
import { readBounded, type Ticker } from "../streaming/index.ts";

export interface BodyLimits {
  bytesMax: number;
  /** How long the body may take to arrive. */
  arrivalMsMax: number;
  ticker: Ticker;
}

/**
 * Reads a request's body. Throws 413 as soon as it is known to be over `bytesMax`, 408 when it does not arrive in time,
 * and `request_interrupted` where the client leaves before its end.
 */
export async function readBody(request: Request, { bytesMax, arrivalMsMax, ticker }: BodyLimits): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw tooLarge(bytesMax);
  // A declared length is enforced by the HTTP parser, so that the body can be taken in one piece. Then `request.body`
  // must not be touched: making it a stream costs more than all else that is done to a small request.
  const bytes = declared === null ? readUndeclared(request.body, bytesMax) : request.bytes();
  // A small body has come with the head: then there is nothing to wait for, nor to time.
  if (Bun.peek.status(bytes) === "fulfilled") return bytes;
  const timeout = Promise.withResolvers<never>();
  const cancelTimeout = ticker.after(arrivalMsMax, () =>
    timeout.reject(new GatewayError("request_timeout", "The request body did not arrive in time.")),
  );
  try {
    return await Promise.race([bytes, timeout.promise]);
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError("request_interrupted", "The request body broke off.", { cause });
  } finally {
    cancelTimeout();
  }
}

async function readUndeclared(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const read = await readBounded(body, bytesMax);
  if ("exceeded" in read) throw tooLarge(bytesMax);
  return read.bytes;
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError("body_too_large", `The request body is over the limit of ${bytesMax} bytes.`);
}
