import {
  GatewayError,
  type JsonObject,
  limits,
  type ObservedUsage,
  parseObject,
  type ReplyBody,
  type UpstreamReply,
} from "../core/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import { collectBody } from "../upstream/index.ts";
import type { Patience } from "./patience.ts";

/** A whole answer, with what it says about itself. */
export interface WholeAnswer {
  bytes: Buffer;
  text: string;
  answer: JsonObject;
  usage: ObservedUsage | undefined;
  /** A success status around a failure: relayed, and not charged. */
  failed: boolean;
}

/**
 * Reads a whole answer, no piece of which may take longer than `idleMsMax`. Throws `upstream_interrupted` where it breaks
 * off and `upstream_invalid_answer` where it is no JSON object.
 */
export async function readWholeAnswer(
  { body }: UpstreamReply,
  operation: UpstreamOperation,
  patience: Patience,
  idleMsMax: number,
): Promise<WholeAnswer> {
  const bytes = await readAll(body, patience, idleMsMax);
  const text = bytes.toString("utf8");
  const answer = parseObject(text);
  if (answer === undefined) {
    throw new GatewayError(
      "upstream_invalid_answer",
      "The upstream answered with something that is not a JSON object.",
    );
  }
  return { bytes, text, answer, usage: operation.readUsage(answer), failed: operation.isFailure(answer) };
}

async function readAll(body: ReplyBody, patience: Patience, idleMsMax: number): Promise<Buffer> {
  patience.expect(idleMsMax, "The upstream's answer fell silent.");
  try {
    const collecting = collectBody(body, limits.upstreamAnswerBytesMax, () => patience.heard());
    const read = collecting instanceof Promise ? await collecting : collecting;
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
