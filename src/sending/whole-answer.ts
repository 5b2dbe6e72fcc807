import { GatewayError, limits, parseObject, type ReplyHeaders, type UpstreamReply } from "../core/index.ts";
import type { MemoryShare } from "../streaming/index.ts";
import type { UpstreamOperation } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";
import { type Collected, collectBody } from "../upstream/index.ts";
import type { FailedReply, StreamReply, WholeAnswer, WholeReply } from "./reply.ts";
import type { CallWatchdog } from "../charges/index.ts";

/** What bounds the reading of a whole answer. */
export interface AnswerBounds {
  watchdog: CallWatchdog;
  /** The time-out for each piece. */
  idleMsMax: number;
  /** Counts the answer. */
  memory: MemoryShare;
}

/**
 * Reads a whole answer. Throws or rejects with `upstream_interrupted` if it breaks off, `memory_exhausted` if there is no
 * memory for it, and `upstream_invalid_answer` if it is not a JSON object.
 */
export function readWholeAnswer(
  { body }: Pick<UpstreamReply, "body">,
  operation: UpstreamOperation,
  { watchdog, idleMsMax, memory }: AnswerBounds,
): WholeAnswer | Promise<WholeAnswer> {
  const collected = collectBody(body, limits.upstreamAnswerBytesMax, (bytes) => {
    watchdog.restart();
    memory.add(bytes);
  });
  // A short answer has arrived with its head, and needs no promise.
  if (!(collected instanceof Promise)) return readCollected(collected, operation);
  return awaitAll(collected, watchdog, idleMsMax).then((all) => readCollected(all, operation));
}

async function awaitAll(collecting: Promise<Collected>, watchdog: CallWatchdog, idleMsMax: number): Promise<Collected> {
  watchdog.expect(idleMsMax, "The upstream's answer fell silent.");
  try {
    return await collecting;
  } catch (cause) {
    const { signal } = watchdog.abort;
    if (signal.aborted) throw signal.reason;
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError("upstream_interrupted", "The upstream's answer broke off.", { cause });
  } finally {
    watchdog.stopWaiting();
  }
}

function readCollected(collected: Collected, operation: UpstreamOperation): WholeAnswer {
  if (!("bytes" in collected)) {
    throw new GatewayError("upstream_invalid_answer", "The upstream's answer is too large.");
  }
  const { bytes } = collected;
  return readText(bytes.toString("utf8"), bytes, operation);
}

function readText(text: string, bytes: Buffer, operation: UpstreamOperation): WholeAnswer {
  const answer = parseObject(text);
  if (answer === undefined) {
    throw new GatewayError(
      "upstream_invalid_answer",
      "The upstream answered with something that is not a JSON object.",
    );
  }
  return { bytes, text, answer, usage: operation.readUsage(answer), failed: operation.isFailure(answer) };
}

/**
 * Reads the rest of a reply; in a failure with a success status the keys are redacted. A short answer has arrived with
 * its head, and needs no promise. Throws as `readWholeAnswer` does.
 */
export function readReply(
  reply: StreamReply,
  { route, operation }: Pick<Target, "route" | "operation">,
  bounds: AnswerBounds,
): WholeReply | FailedReply | Promise<WholeReply | FailedReply> {
  const { status, headers, keyId } = reply;
  const replyOf = (answer: WholeAnswer): WholeReply | FailedReply =>
    answer.failed
      ? { kind: "failed", status, headers, body: route.keys.redact(answer.text) }
      : { kind: "whole", status, headers, answers: [answer], keyId };
  const whole = readWholeAnswer(reply, operation, bounds);
  return whole instanceof Promise ? whole.then(replyOf) : replyOf(whole);
}

const noHeaders: ReplyHeaders = { get: () => null };

/**
 * The reply whose answer was part of another one, such as a line of a batch; the keys are redacted in a failure. Throws
 * `upstream_invalid_answer` if a success is not a JSON object.
 */
export function replyOfText(
  { route, operation }: Pick<Target, "route" | "operation">,
  { status, text, keyId }: { status: number; text: string; keyId: string },
): WholeReply | FailedReply {
  const answer = status < 300 ? readText(text, Buffer.from(text), operation) : undefined;
  return answer === undefined || answer.failed
    ? { kind: "failed", status, headers: noHeaders, body: route.keys.redact(text) }
    : { kind: "whole", status, headers: noHeaders, answers: [answer], keyId };
}
