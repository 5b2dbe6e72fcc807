import { GatewayError } from "../core/index.ts";
import { readBounded } from "../streaming/index.ts";
import { receiveInTime, bodyInterrupted, type BodyLimits, bodyTooLarge, refuseDeclaredSize } from "./arrival.ts";
import type { BodySource } from "./body-source.ts";

/**
 * Reads a request's body. Throws or rejects with 413 as soon as it is known to exceed `bytesMax`, 408 if it does not
 * arrive in time, and `request_interrupted` if the client disconnects before its end.
 */
export function readBody(source: BodySource, limits: BodyLimits): Promise<Uint8Array> {
  const declared = refuseDeclaredSize(source.headers, limits.bytesMax);
  // A declared length is enforced by the HTTP parser, so the body can be read in one piece. `request.body` must not be
  // accessed then: making it a stream costs more than all other work on a small request.
  const bytes = declared !== undefined ? source.bytes() : readUndeclared(source.body, limits.bytesMax);
  return receiveInTime(bytes, limits, interrupted);
}

function interrupted(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : bodyInterrupted(cause);
}

async function readUndeclared(body: ReadableStream<Uint8Array> | null, bytesMax: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const read = await readBounded(body, bytesMax);
  if ("exceeded" in read) throw bodyTooLarge(bytesMax);
  return read.bytes;
}
