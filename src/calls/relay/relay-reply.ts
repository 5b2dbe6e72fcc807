/** Relays an answer while it arrives, with an observer. */
import { type PaidAnswer, resolveUsage, type RunningWork, withPassed, StoredBody } from "../../charges/index.ts";
import { GatewayError } from "../../core/index.ts";
import type { Reply, SendOptions, StreamReply } from "../../sending/index.ts";
import { EVENT_HEADERS, EVENT_STREAM, type StreamObserver } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { captureRecords } from "../answer-records.ts";
import { headersFor, storeOrLog } from "../build-response.ts";
import { answerAtEnd } from "../background/run-in-background.ts";
import type { Exchange, ObservedStream } from "../exchange.ts";
import type { CallPlan } from "../plan-call.ts";
import { relayStream } from "./relay-stream.ts";
import { StreamUsage } from "./stream-usage.ts";

export interface RelayDependencies {
  send: SendOptions;
  logger: Logger;
}

/**
 * Relays a reply whose body is a stream for the client: events, or bytes. Undefined for any other reply. Throws for a
 * stream that was not requested.
 */
export function relayReply(
  deps: RelayDependencies,
  call: RunningWork,
  plan: CallPlan,
  reply: Reply,
): PaidAnswer | undefined {
  if (reply.kind !== "stream") return undefined;
  const stream = observeReply(plan.exchange, call, reply);
  return stream && relay(deps, call, reply, { stream, plan });
}

/** The observer of a relayed reply; undefined for one that is read whole. */
function observeReply(
  exchange: Exchange,
  call: RunningWork,
  { headers, body }: StreamReply,
): ObservedStream | undefined {
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith(EVENT_STREAM)) {
    return exchange.observeBytes === undefined || /\bjson\b/.test(type) ? undefined : exchange.observeBytes();
  }
  const { work } = call;
  const { streamed } = work.order;
  if (exchange.observe !== undefined && (streamed || exchange.passesThrough)) {
    return exchange.observe((told, bytes) => resolveUsage(work, { upstream: told, outputBytes: () => bytes }).usage);
  }
  body.cancel();
  throw new GatewayError("upstream_invalid_answer", "The upstream answered with a stream that nobody asked for.");
}

/** What is relayed. */
interface Relayed {
  stream: ObservedStream;
  plan: CallPlan;
}

function relay(
  deps: RelayDependencies,
  call: RunningWork,
  { status, headers: replied, body, keyId }: StreamReply,
  { stream: { observer: seeing, events }, plan }: Relayed,
): PaidAnswer {
  const { work, watchdog, client } = call;
  const { target, records, exchange } = plan;
  const { headers: described } = exchange;
  const { order } = work;
  const capture = records && captureRecords(records);
  const observer = capture?.observe(seeing) ?? seeing;
  const usage = usageOf(deps.logger, call, observer);
  work.meter(
    () => usage.soFar(),
    (error) => watchdog.abort.abort(error),
  );
  const own = headersFor(call, target, replied);
  const headers = {
    ...(events && EVENT_HEADERS),
    ...own,
    ...(described && { ...described, "content-type": own["content-type"] ?? EVENT_STREAM }),
  };
  const recorder = order.retry === undefined || call.isDetached ? undefined : new StoredBody();
  const stream = relayStream(body, {
    observer,
    events,
    abort: watchdog.abort,
    ticker: watchdog.ticker,
    idleMsMax: deps.send.idleMsMax,
    client,
    recorder,
    content: call.content,
    firstAllowance: work.firstAllowance,
    follow: order.output && ((outputBytes) => work.follow(outputBytes)),
    redact: (text) => target.route.keys.redact(text),
    onFirstByte: () => work.firstByte(),
    onEnd: async (outcome, error) => {
      if (capture !== undefined) await storeOrLog(deps.logger, call.id, () => capture.save(keyId));
      const seen = usage.soFar();
      const used = seen && capture ? capture.withoutContinued(seen) : seen;
      // A stream that the upstream ends with its own error has failed, which is free, like a whole answer that fails. If the
      // caller's credits end it, the upstream bills the input at least.
      const isPartial = outcome === "interrupted" && (usage.hasOutput || error?.fault === "client");
      const isCharged = outcome === "complete" || outcome === "abandoned" || isPartial;
      const unbilled = outcome === "failed" && usage.hasOutput ? used : undefined;
      if (used === undefined || !isCharged) await call.end({ status, outcome, error, unbilled });
      else {
        const atEnd = plan.background && answerAtEnd(plan, capture?.response);
        const answer = recorder ? { headers, body: recorder } : atEnd;
        await call.end({ status, outcome, observed: used, error, answer });
      }
    },
  });
  return { status, headers, body: stream };
}

/** The usage of the stream so far. */
function usageOf(logger: Logger, { id, work }: RunningWork, observer: StreamObserver): StreamUsage {
  return new StreamUsage({
    observer,
    read() {
      const { usage: told } = observer;
      // Figures in the middle of a stream do not count what has passed since.
      const isFinal = told === undefined || ((observer.done || observer.complete) && observer.cut !== true);
      const upstream = isFinal ? told : withPassed(work, told, observer.outputBytesSinceUsage ?? 0);
      const used = resolveUsage(work, { upstream, outputBytes: () => observer.outputBytes });
      // Usage without a price cannot be charged either.
      work.costOf(used);
      return used;
    },
    // Only the name: the message could repeat text of the caller or the upstream.
    onFailure: (reason) => logger.error({ request_id: id, cause: nameOf(reason) }, "usage unknown"),
  });
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}
