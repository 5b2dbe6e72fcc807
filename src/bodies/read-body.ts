import { GatewayError, limits } from "../core/index.ts";
import { type MemoryShare, readBounded } from "../streaming/index.ts";
import { receiveInTime, bodyInterrupted, type BodyLimits, bodyTooLarge, refuseDeclaredSize } from "./arrival.ts";
import { type BodySource, inflated } from "./body-source.ts";

/** Whether a body of this size is read in pieces, and whatever reads its text needs a turn. */
export function isLarge(bytes: number): boolean {
  return bytes > limits.smallBodyBytesMax;
}

/**
 * Reads a request's body, inflated if it is compressed; `memory` counts it. Throws or rejects with 413 as soon as it is known to exceed `bytesMax`,
 * 408 if it does not arrive in time, 503 if there is no memory for it, and `request_interrupted` if the client
 * disconnects before its end.
 */
export function readBody(received: BodySource, limited: BodyLimits, memory: MemoryShare): Promise<Uint8Array> {
  const source = received.headers.has("content-encoding") ? inflated(received) : received;
  const declared = refuseDeclaredSize(source.headers, limited.bytesMax);
  // A declared length is enforced by the HTTP parser, so the body can be read in one piece. `request.body` must not be
  // accessed then: making it a stream costs more than all other work on a small request.
  const bytes =
    declared === undefined || isLarge(declared) ? readPieces(source.body, limited.bytesMax, memory) : source.bytes();
  return receiveInTime(bytes, limited, interrupted);
}

function interrupted(cause: unknown): GatewayError {
  return cause instanceof GatewayError ? cause : bodyInterrupted(cause);
}

async function readPieces(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
  memory: MemoryShare,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const read = await readBounded(body, bytesMax, (bytes) => memory.add(bytes));
  if ("exceeded" in read) throw bodyTooLarge(bytesMax);
  return read.bytes;
}
