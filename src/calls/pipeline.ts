/**
 * The way of a chargeable call, the same for every route:
 *
 *   authenticate → validate → resolve model → hold → send upstream → relay and observe → settle or release
 *
 * Authentication has happened in `http`, since routes that cost nothing need it too; everything else is here.
 */
import {
  bytewise,
  editBytes,
  type Environment,
  formatCredits,
  GatewayError,
  limits,
  type ObservedUsage,
} from "../core/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Charge, type ChargeDependencies, type Replay } from "./charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { estimatedUsage } from "./estimate.ts";
import { relayedHeaders } from "./headers.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import { Patience } from "./patience.ts";
import { type BodyLimits, readBody } from "./read-body.ts";
import { relayStream } from "./relay-stream.ts";
import { readWholeAnswer } from "./relay-whole.ts";
import { KeptBody, readRetryKey, replay } from "./retry-key.ts";
import { type IncomingCall, RunningCall } from "./running-call.ts";
import type { ModelRouter, Target } from "../routing/index.ts";
import { type SendOptions, sendUpstream, type UpstreamAnswer } from "./send.ts";

export interface PipelineDependencies {
  environment: Environment;
  router: ModelRouter;
  charges: ChargeDependencies;
  send: SendOptions;
  body: BodyLimits;
  logger: Logger;
}

export class CallPipeline {
  readonly #deps: PipelineDependencies;
  /** The calls that have not ended, from before their hold to the last byte of their answer. */
  readonly #running = new Set<AbortController>();
  #closing = false;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
  }

  /** Calls that have not ended, streams included. */
  get active(): number {
    return this.#running.size;
  }

  /** From now on no call is taken; those under way go on. */
  close(): void {
    this.#closing = true;
  }

  /** Ends the calls that are still open, each with the error of its kind; what they have used is charged. */
  abortAll(): void {
    for (const abort of this.#running) abort.abort(shuttingDown());
  }

  /** Runs one call. Throws `GatewayError` for everything that is refused or fails before an answer has begun. */
  async run<Body extends ChargeableBody>(route: ChargeableRoute<Body>, incoming: IncomingCall): Promise<Response> {
    const startedAt = performance.now();
    const parsed = parseBody(await readBody(incoming.request, this.#deps.body), route.body, route.dialect.measured);
    const call = await this.#admit(route, incoming, parsed, startedAt);
    if (!(call instanceof RunningCall)) return replay(call.answer, call.firstId);
    try {
      return await this.#relay(call, parsed);
    } catch (thrown) {
      const error = thrown instanceof GatewayError ? thrown : undefined;
      await call.end({ status: error?.status ?? 500, outcome: "interrupted", error });
      throw thrown;
    } finally {
      call.parts.patience.end();
    }
  }

  /** Everything else that can refuse a call, or answer it; the hold comes last. */
  async #admit<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    { body, bytes, sizeOf }: ParsedBody<Body>,
    startedAt: number,
  ): Promise<RunningCall<Body> | Replay> {
    const { charges, router, logger } = this.#deps;
    const { request, requestId, principal } = incoming;
    const retry = readRetryKey(request.headers, route.operation, bytes);
    const target = router.resolve(body.model, route.operation, principal);
    const bound = route.dialect.bound(body, sizeOf);
    const streamed = body.stream === true;
    if (this.#closing) throw shuttingDown();
    // From here on money is involved: a server that goes down waits for this call.
    const abort = new AbortController();
    const onEnd = (): void => void this.#running.delete(abort);
    this.#running.add(abort);
    try {
      const charge = await Charge.open(charges, {
        id: requestId,
        accountId: principal.accountId,
        purpose: `${route.operation} ${target.route.prefix}/${target.model}`,
        price: target.price,
        bound,
        rates: principal.rates,
        retry,
      });
      if (!(charge instanceof Charge)) {
        onEnd();
        return charge;
      }
      const lingersMs = lingerMs(retry !== undefined, streamed);
      const patience = new Patience({ ticker: charges.ticker, abort, client: request, lingersMs });
      const at = charges.clock();
      return new RunningCall({
        incoming,
        route,
        streamed,
        bound,
        retry,
        target,
        charge,
        patience,
        startedAt,
        at,
        logger,
        onEnd,
      });
    } catch (thrown) {
      onEnd();
      throw thrown;
    }
  }

  async #relay<Body extends ChargeableBody>(call: RunningCall<Body>, parsed: ParsedBody<Body>): Promise<Response> {
    const { target, streamed, patience, incoming } = call.parts;
    const answer = await sendUpstream(this.#deps.environment, this.#deps.send, {
      target,
      body: upstreamBody(target, parsed),
      streamed,
      clientHeaders: incoming.request.headers,
      patience,
    });
    if (!answer.ok) return relayFailure(call, answer);
    const events = answer.response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    return events ? this.#relayEvents(call, parsed.body, answer.response) : this.#relayWhole(call, answer.response);
  }

  async #relayWhole<Body extends ChargeableBody>(call: RunningCall<Body>, response: Response): Promise<Response> {
    const { target, route, bound, patience, retry } = call.parts;
    const { status } = response;
    const answer = await readWholeAnswer(response, target.operation, patience, this.#deps.send.idleMsMax);
    const headers = headersFor(call, response.headers);
    if (answer.failed) {
      await call.end({ status, outcome: "failed" });
      headers["x-tollgate-credits"] = "0";
      return new Response(target.route.keys.scrub(answer.text), { status, headers });
    }
    const observed = answer.usage ?? { usage: estimatedUsage(bound, route.dialect.outputBytes(answer.text)) };
    headers["x-tollgate-credits"] = formatCredits(call.costOf(observed));
    await call.end({
      status,
      outcome: "complete",
      observed,
      answer: retry && { headers, body: new KeptBody().add(answer.bytes) },
    });
    return new Response(answer.bytes, { status, headers });
  }

  #relayEvents<Body extends ChargeableBody>(call: RunningCall<Body>, body: Body, response: Response): Response {
    const { route, bound, target, charge, patience, retry, incoming } = call.parts;
    const { status } = response;
    if (response.body === null) throw new GatewayError("upstream_invalid_answer", "The upstream's stream is empty.");
    const observer = route.dialect.observe(body, (event) => target.operation.readUsage(event));
    const observe = (): ObservedUsage => observer.usage ?? { usage: estimatedUsage(bound, observer.outputBytes) };
    charge.observeWith(observe, (error) => patience.abort.abort(error));
    const headers = { ...headersFor(call, response.headers), "cache-control": "no-cache", "x-accel-buffering": "no" };
    const kept = retry === undefined ? undefined : new KeptBody();
    const stream = relayStream(response.body, {
      observer,
      abort: patience.abort,
      ticker: this.#deps.charges.ticker,
      clock: this.#deps.environment.clock,
      idleMsMax: this.#deps.send.idleMsMax,
      client: incoming.request,
      kept,
      errorEvent: (error) => route.dialect.errorEvent(error, incoming.requestId),
      scrub: (text) => target.route.keys.scrub(text),
      onFirstByte: () => call.firstByte(),
      onEnd: (outcome, error) => {
        const producedNothing = outcome !== "complete" && observer.usage === undefined && observer.outputBytes === 0;
        if (producedNothing && outcome !== "abandoned") return call.end({ status, outcome, error });
        return call.end({ status, outcome, observed: observe(), error, answer: kept && { headers, body: kept } });
      },
    });
    return new Response(stream, { status, headers });
  }
}

/** An upstream's own error: relayed as it is, and free. */
async function relayFailure<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  { status, headers, body }: Extract<UpstreamAnswer, { ok: false }>,
): Promise<Response> {
  // A redirection is not followed, since the key must not go along, and means nothing to the client.
  if (status < 400) throw new GatewayError("upstream_invalid_answer", `The upstream answered with status ${status}.`);
  await call.end({ status, outcome: "failed" });
  return new Response(body, { status, headers: { ...headersFor(call, headers), "x-tollgate-credits": "0" } });
}

/** The headers of an answer, but for what it cost. */
function headersFor<Body extends ChargeableBody>(call: RunningCall<Body>, upstream: Headers): Record<string, string> {
  const { target, charge } = call.parts;
  const headers = relayedHeaders(upstream, target.route.sandbox);
  return charge.rateHeaders === undefined ? headers : Object.assign(headers, charge.rateHeaders);
}

/**
 * How long a call goes on when its client has gone: a stream not at all, since ending it stops what it costs; a whole
 * answer until its usage has come, within a bound, since upstreams charge for it all the same. One that may be sent again
 * goes on to its end: its answer is kept, and charged once.
 */
function lingerMs(mayBeRepeated: boolean, streamed: boolean): number {
  if (mayBeRepeated) return Number.POSITIVE_INFINITY;
  return streamed ? 0 : limits.drainMsMax;
}

/** The body as the upstream is to get it: under its own name of the model, all else as the caller wrote it. */
function upstreamBody<Body extends ChargeableBody>(target: Target, parsed: ParsedBody<Body>): Uint8Array {
  const model = { set: "model", value: bytewise(JSON.stringify(target.model)) };
  return editBytes(parsed.bytes, parsed.text, parsed.members, [model, ...target.operation.edits(parsed.body)]);
}

function shuttingDown(): GatewayError {
  return new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
}
