/** An answer that is passed on while it comes, and observed on the way. */
import { GatewayError, type UpstreamReply } from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { ResponseCatcher } from "./catch-response.ts";
import type { ChargeableBody } from "./chargeable-route.ts";
import { usedBy } from "./estimate.ts";
import { EVENT_STREAM, type ObservedStream } from "./exchange.ts";
import type { CallPlan } from "./plan-call.ts";
import { relayStream } from "./relay-stream.ts";
import { KeptBody } from "./retry-key.ts";
import type { RunningCall } from "./running-call.ts";
import type { UpstreamAnswer, SendOptions } from "./send.ts";
import type { WholeReply } from "./send-call.ts";
import { EVENT_HEADERS, headersFor, keepResponse } from "./show-answer.ts";
import { StreamUsage } from "./stream-usage.ts";

export interface RelayDependencies {
  send: SendOptions;
  logger: Logger;
}

/**
 * The answer, where it comes as a stream that the client can have: of events, or of bytes. Undefined where it comes whole.
 * Throws where it is a stream that nobody asked for.
 */
export function relayAnswer<Body extends ChargeableBody>(
  deps: RelayDependencies,
  call: RunningCall<Body>,
  plan: CallPlan,
  sent: UpstreamAnswer | WholeReply,
): Response | undefined {
  if (!sent.ok || "answers" in sent) return undefined;
  const { reply } = sent;
  const stream = streamOf(plan, reply);
  return stream && relay(deps, call, plan, reply, stream);
}

/** What observes the reply, where it is passed on while it comes. */
function streamOf({ exchange, streamed }: CallPlan, { headers, body }: UpstreamReply): ObservedStream | undefined {
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith(EVENT_STREAM)) {
    return exchange.observeBytes === undefined || /\bjson\b/.test(type) ? undefined : exchange.observeBytes();
  }
  if (exchange.observe !== undefined && (streamed || exchange.passesThrough)) return exchange.observe();
  body.cancel();
  throw new GatewayError("upstream_invalid_answer", "The upstream answered with a stream that nobody asked for.");
}

function relay<Body extends ChargeableBody>(
  deps: RelayDependencies,
  call: RunningCall<Body>,
  { keep }: CallPlan,
  { status, headers: replied, body }: UpstreamReply,
  { observer: own, events }: ObservedStream,
): Response {
  const { bound, target, charge, patience, retry, incoming } = call.parts;
  const catcher = keep === undefined ? undefined : new ResponseCatcher(own);
  const observer = catcher ?? own;
  const usage = new StreamUsage({
    observer,
    read() {
      const used = usedBy(target.price, bound, observer.usage, () => observer.outputBytes);
      // What has no price can't be charged either.
      charge.costOf(used);
      return used;
    },
    // Its name alone: the text could repeat what was said.
    onFailure: (reason) =>
      deps.logger.error({ request_id: incoming.requestId, cause: nameOf(reason) }, "usage unknown"),
  });
  charge.observeWith(
    () => usage.soFar(),
    (error) => patience.abort.abort(error),
  );
  const headers = { ...headersFor(call, replied), ...(events === undefined ? {} : EVENT_HEADERS) };
  const kept = retry === undefined ? undefined : new KeptBody();
  const stream = relayStream(body, {
    observer,
    events,
    abort: patience.abort,
    ticker: patience.ticker,
    idleMsMax: deps.send.idleMsMax,
    client: incoming.request,
    kept,
    scrub: (text) => target.route.keys.scrub(text),
    onFirstByte: () => call.firstByte(),
    onEnd: async (outcome, error) => {
      if (keep !== undefined) await keepResponse(deps.logger, call, keep, catcher?.response);
      const used = usage.soFar();
      const isCharged = usage.cameOut || outcome === "complete" || outcome === "abandoned";
      if (used === undefined || !isCharged) return call.end({ status, outcome, error });
      return call.end({ status, outcome, observed: used, error, answer: kept && { headers, body: kept } });
    },
  });
  return new Response(stream, { status, headers });
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}
