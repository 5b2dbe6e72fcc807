/** Builds the response to a client, from a whole answer or a failure. */
import { type PaidAnswer, resolveUsage, type RunningWork, sumOf } from "../charges/index.ts";
import { GatewayError, type ObservedUsage, type ReplyHeaders } from "../core/index.ts";
import type { Target } from "../routing/index.ts";
import {
  type FailedReply,
  relayedErrorHeaders,
  relayedHeaders,
  setTarget,
  type WholeReply,
  withFailures,
} from "../sending/index.ts";
import { EVENT_HEADERS, EVENT_STREAM } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { CallPlan } from "./plan-call.ts";

/** A whole answer, without its cost. */
export interface AnsweredCall {
  answer: PaidAnswer & { body: Uint8Array | string };
  /** The answer as one object in the client's dialect, as JSON text. */
  whole: string;
  observed: ObservedUsage;
}

/** Throws if there is no usable answer. */
export function wholeAnswer(running: RunningWork, { exchange, target }: CallPlan, reply: WholeReply): AnsweredCall {
  const { work } = running;
  const { status, answers } = reply;
  const headers = headersFor(running, target, reply.headers);
  if (exchange.headers !== undefined) Object.assign(headers, exchange.headers);
  const { text, usage } = answers[0];
  const upstream = answers.length === 1 ? usage : sumOf(answers.map((each) => each.usage));
  const outputBytes = (): number => exchange.outputBytes(text);
  const observed = resolveUsage(work, { upstream, outputBytes });
  const { body, contentType, whole, counted } = exchange.answer(answers, observed.usage);
  if (contentType === EVENT_STREAM) Object.assign(headers, EVENT_HEADERS);
  else if (contentType !== undefined) headers["content-type"] = contentType;
  const answer = { status, headers, body };
  if (counted === undefined) return { answer, whole, observed };
  return { answer, whole, observed: resolveUsage(work, { upstream, counted, outputBytes }) };
}

/** An upstream's own error: relayed, and free. */
export function failedAnswer(running: RunningWork, { exchange, target }: CallPlan, reply: FailedReply): PaidAnswer {
  const { status: replied, headers: own, body: text } = reply;
  // A client of the upstream's own dialect gets the upstream's status as it is, and can interpret it.
  const status = replied < 400 && !exchange.passesThrough ? 502 : replied;
  const body = exchange.failure(status, text);
  const answered = headersFor(running, target, own, relayedErrorHeaders);
  const headers = { ...answered, ...exchange.headers, "x-tollgate-credits": "0" };
  return { status, headers: withFailures(headers, running.work.asked.attempts), body };
}

/** Stores the records of an answer. If that fails, the answer is sent anyway: it exists and is paid for. */
export async function storeOrLog(logger: Logger, requestId: string, store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (reason) {
    logger.error({ request_id: requestId, reason: String(reason) }, "records of the answer not kept");
  }
}

/** The headers of an answer, without its cost. */
export function headersFor(
  { work, attempts }: Pick<RunningWork, "work" | "attempts">,
  { route, model }: Target,
  upstream: ReplyHeaders,
  relay: typeof relayedHeaders = relayedHeaders,
): Record<string, string> {
  const headers = relay(upstream, route);
  work.asked.upstreamRequestId = headers["x-upstream-request-id"];
  setTarget(headers, { provider: route.prefix, model }, attempts);
  const { outputTokens, toolRuns } = work.limits;
  if (outputTokens !== undefined) headers["x-tollgate-max-output-tokens"] = String(outputTokens);
  if (toolRuns !== undefined) headers["x-tollgate-max-tool-calls"] = String(toolRuns);
  return work.rateHeaders === undefined ? headers : Object.assign(headers, work.rateHeaders);
}

/** Names the target that was asked last in the error with which a call fails, and what was changed for it. */
export function nameTarget(
  thrown: unknown,
  { work, attempts }: Pick<RunningWork, "work" | "attempts">,
  { exchange, order }: CallPlan,
): void {
  if (!(thrown instanceof GatewayError) || attempts === 0) return;
  const headers = { ...thrown.headers };
  const { provider, model } = work.order.source;
  if (order.source.provider === provider && order.source.model === model) {
    const { "content-type": _, ...changes } = exchange.headers ?? {};
    Object.assign(headers, changes);
  }
  setTarget(headers, work.order.source, attempts);
  thrown.headers = withFailures(headers, work.asked.attempts);
}
