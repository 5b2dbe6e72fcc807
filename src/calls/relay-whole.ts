import { GatewayError, limits, type ObservedUsage, parseObject } from "../core/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import { readBounded } from "../streaming/index.ts";

/** A whole answer, with what it says about itself. */
export interface WholeAnswer {
  bytes: Uint8Array;
  text: string;
  usage: ObservedUsage | undefined;
  /** A success status around a failure: relayed, and not charged. */
  failed: boolean;
}

/** Reads a whole answer. Throws `upstream_interrupted` where it breaks off and `upstream_invalid_answer` where it is no JSON object. */
export async function readWholeAnswer(
  response: Response,
  operation: UpstreamOperation,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const bytes = await readAll(response, signal);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const answer = parseObject(text);
  if (answer === undefined) {
    throw new GatewayError(
      "upstream_invalid_answer",
      "The upstream answered with something that is not a JSON object.",
    );
  }
  return { bytes, text, usage: operation.readUsage(answer), failed: operation.isFailure(answer) };
}

async function readAll(response: Response, signal: AbortSignal): Promise<Uint8Array> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  try {
    // A declared length that fits is read in one piece; everything else under the bound, piece by piece.
    if (declared <= limits.upstreamAnswerBytesMax) return await response.bytes();
    if (response.body === null) return new Uint8Array();
    const read = await readBounded(response.body, limits.upstreamAnswerBytesMax);
    if ("bytes" in read) return read.bytes;
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new GatewayError("upstream_interrupted", "The upstream's answer broke off.", { cause });
  }
  throw new GatewayError("upstream_invalid_answer", "The upstream's answer is too large.");
}
