import {
  GatewayError,
  type JsonObject,
  limits,
  type ObservedUsage,
  parseObject,
  type UpstreamReply,
} from "../core/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import { type Collected, collectBody } from "../upstream/index.ts";
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
 * Reads a whole answer, no piece of which may take longer than `idleMsMax`. Throws, or rejects with,
 * `upstream_interrupted` where it breaks off and `upstream_invalid_answer` where it is no JSON object.
 */
export function readWholeAnswer(
  { body }: UpstreamReply,
  operation: UpstreamOperation,
  patience: Patience,
  idleMsMax: number,
): WholeAnswer | Promise<WholeAnswer> {
  const collected = collectBody(body, limits.upstreamAnswerBytesMax, () => patience.heard());
  // A short answer has come with its head, and needs no promise.
  if (!(collected instanceof Promise)) return readCollected(collected, operation);
  return awaitAll(collected, patience, idleMsMax).then((all) => readCollected(all, operation));
}

async function awaitAll(collecting: Promise<Collected>, patience: Patience, idleMsMax: number): Promise<Collected> {
  patience.expect(idleMsMax, "The upstream's answer fell silent.");
  try {
    return await collecting;
  } catch (cause) {
    const { signal } = patience.abort;
    if (signal.aborted) throw signal.reason;
    throw new GatewayError("upstream_interrupted", "The upstream's answer broke off.", { cause });
  } finally {
    patience.rest();
  }
}

function readCollected(collected: Collected, operation: UpstreamOperation): WholeAnswer {
  if (!("bytes" in collected)) {
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer is too large.");
  }
  const { bytes } = collected;
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
