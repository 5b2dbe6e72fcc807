/** Builds the response to a client, from a whole answer or a failure. */
import { resolveUsage, sumOf, StoredBody } from "../charges/index.ts";
import { GatewayError, type ReplyHeaders } from "../core/index.ts";
import { type FailedReply, relayedErrorHeaders, relayedHeaders, type WholeReply } from "../sending/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { EVENT_STREAM, type Exchange } from "./exchange.ts";
import type { CallAnswer } from "./incoming-call.ts";
import type { CallResult, RunningCall } from "./running-call.ts";

/** The parts of a response, and the end of its call. */
export interface ResponseParts extends CallAnswer {
  body: Uint8Array | string;
  end: CallResult;
  /** The answer as one object in the client's dialect, as JSON text; empty for a failure. */
  whole: string;
  /** The id of the key that produced the answer; undefined for a failure. */
  keyId: string | undefined;
}

/** Throws if there is no usable answer. */
export function buildResponse(call: RunningCall, exchange: Exchange, reply: WholeReply | FailedReply): ResponseParts {
  return reply.kind === "whole" ? wholeResponse(call, exchange, reply) : failedResponse(call, exchange, reply);
}

function wholeResponse(call: RunningCall, exchange: Exchange, reply: WholeReply): ResponseParts {
  const { work } = call.parts;
  const { status, answers, keyId } = reply;
  const headers = headersFor(call, reply.headers);
  if (exchange.headers !== undefined) Object.assign(headers, exchange.headers);
  const { body, contentType, whole, counted } = exchange.answer(answers);
  if (contentType !== undefined) headers["content-type"] = contentType;
  if (contentType === EVENT_STREAM) Object.assign(headers, EVENT_HEADERS);
  const { text, usage } = answers[0];
  const upstream = answers.length === 1 ? usage : sumOf(answers.map((each) => each.usage));
  const observed = resolveUsage(work.order, { upstream, counted, outputBytes: () => exchange.outputBytes(text) });
  headers["x-tollgate-credits"] = work.creditsOf(observed);
  const kept = work.order.retry && { headers, body: new StoredBody().add(Buffer.from(body)) };
  return { status, headers, body, whole, keyId, end: { status, outcome: "complete", observed, answer: kept } };
}

/** An upstream's own error: relayed, and free. */
function failedResponse(call: RunningCall, exchange: Exchange, reply: FailedReply): ResponseParts {
  const { status: replied, headers: own, body: text } = reply;
  // A redirection is not followed, because the key must not be sent along; it means nothing to the client.
  if (replied >= 300 && replied < 400) {
    throw new GatewayError("upstream_invalid_answer", `The upstream answered with status ${replied}.`);
  }
  // A client of the upstream's own dialect gets the upstream's status as it is, and can interpret it.
  const status = replied < 400 && !exchange.passesThrough ? 502 : replied;
  const body = exchange.failure(status, text);
  // A browser must not guess the type of an error's body, which may resemble a page.
  const safe = { "x-content-type-options": "nosniff", "x-tollgate-credits": "0" };
  const headers = { ...headersFor(call, own, relayedErrorHeaders), ...exchange.headers, ...safe };
  return { status, headers, body, whole: "", keyId: undefined, end: { status, outcome: "failed" } };
}

/** Stores the records of an answer. If that fails, the answer is sent anyway: it exists and is paid for. */
export async function storeOrLog(logger: Logger, requestId: string, store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (reason) {
    logger.error({ request_id: requestId, reason: String(reason) }, "records of the answer not kept");
  }
}

export const EVENT_HEADERS = { "cache-control": "no-cache", "x-accel-buffering": "no" };

/** The headers of an answer, without its cost. */
export function headersFor(
  call: RunningCall,
  upstream: ReplyHeaders,
  relay: typeof relayedHeaders = relayedHeaders,
): Record<string, string> {
  const { target, work } = call.parts;
  const headers = relay(upstream, target.route.sandbox);
  if (work.outputLimit !== undefined) headers["x-tollgate-max-output-tokens"] = String(work.outputLimit);
  return work.rateHeaders === undefined ? headers : Object.assign(headers, work.rateHeaders);
}
