import { GatewayError, type JsonObject, limits, type ObservedUsage, parseObject } from "../core/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import { readBounded } from "../streaming/index.ts";
import type { Patience } from "./patience.ts";

/** A whole answer, with what it says about itself. */
export interface WholeAnswer {
  bytes: Uint8Array;
  text: string;
  answer: JsonObject;
  usage: ObservedUsage | undefined;
  /** A success status around a failure: relayed, and not charged. */
  failed: boolean;
}

/** Bytes of an answer that an upstream sends without a pause, so that its pieces need not be listened to. */
const ONE_PIECE_BYTES_MAX = 1024 * 1024;

/**
 * Reads a whole answer, no piece of which may take longer than `idleMsMax`. Throws `upstream_interrupted` where it breaks
 * off and `upstream_invalid_answer` where it is no JSON object.
 */
export async function readWholeAnswer(
  response: Response,
  operation: UpstreamOperation,
  patience: Patience,
  idleMsMax: number,
): Promise<WholeAnswer> {
  const bytes = await readAll(response, patience, idleMsMax);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const answer = parseObject(text);
  if (answer === undefined) {
    throw new GatewayError(
      "upstream_invalid_answer",
      "The upstream answered with something that is not a JSON object.",
    );
  }
  return { bytes, text, answer, usage: operation.readUsage(answer), failed: operation.isFailure(answer) };
}

async function readAll(response: Response, patience: Patience, idleMsMax: number): Promise<Uint8Array> {
  const declared = Number(response.headers.get("content-length") ?? Number.NaN);
  patience.expect(idleMsMax, "The upstream's answer fell silent.");
  try {
    // A short declared length is read in one piece; everything else under the bound, piece by piece.
    if (declared <= ONE_PIECE_BYTES_MAX) return await response.bytes();
    if (response.body === null) return new Uint8Array();
    const read = await readBounded(response.body, limits.upstreamAnswerBytesMax, () => patience.heard());
    if ("bytes" in read) return read.bytes;
  } catch (cause) {
    const { signal } = patience.abort;
    if (signal.aborted) throw signal.reason;
    throw new GatewayError("upstream_interrupted", "The upstream's answer broke off.", { cause });
  } finally {
    patience.rest();
  }
  throw new GatewayError("upstream_invalid_answer", "The upstream's answer is too large.");
}
