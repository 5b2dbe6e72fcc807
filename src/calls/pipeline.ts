/**
 * The way of a chargeable call, the same for every route:
 *
 *   authenticate → validate → resolve model → hold → send upstream → relay and observe → settle or release
 *
 * Authentication has happened in `http`, since routes that cost nothing need it too; everything else is here.
 */
import {
  type Environment,
  formatCredits,
  GatewayError,
  type JsonObject,
  limits,
  type ObservedUsage,
  parseObject,
} from "../core/index.ts";
import type { CallBound } from "../dialects/index.ts";
import type { RetryKey } from "../ledger/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Charge, type ChargeDependencies, type Replay } from "./charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { estimatedUsage } from "./estimate.ts";
import { ResponseCatcher } from "./catch-response.ts";
import { callIdOf, type Exchange, type ObserveStream, openExchange } from "./exchange.ts";
import { inOwnWords, type Recalled, type ResponseKeeper } from "./response-keeper.ts";
import { relayedHeaders } from "./headers.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import { Patience } from "./patience.ts";
import { type BodyLimits, readBody } from "./read-body.ts";
import { relayStream } from "./relay-stream.ts";
import { readWholeAnswer, type WholeAnswer } from "./relay-whole.ts";
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
    const retry = readRetryKey(incoming.request.headers, route.operations[0], parsed.bytes);
    const target = this.#deps.router.resolve(parsed.body.model, route.operations, incoming.principal);
    const call = { route, incoming, parsed, target, retry };
    const plan = route.keeper === undefined ? this.#plan(call) : await this.#planKept(call, route.keeper);
    const running = await this.#admit(route, incoming, plan, startedAt);
    if (!(running instanceof RunningCall)) return replay(running.answer, running.firstId);
    try {
      return await this.#relay(running, plan);
    } catch (thrown) {
      const error = thrown instanceof GatewayError ? thrown : undefined;
      await running.end({ status: error?.status ?? 500, outcome: "interrupted", error });
      throw thrown;
    } finally {
      running.parts.patience.end();
    }
  }

  /** Everything that depends on what the body says, and can refuse it. It uses the body's bytes up. */
  #plan<Body extends ChargeableBody>(
    { route, incoming: { requestId }, parsed, target, retry }: PlannedCall<Body>,
    own?: JsonObject,
    decoded = own,
  ): CallPlan {
    const { body, sizeOf } = parsed;
    const bound = route.dialect.bound(body, sizeOf);
    const at = this.#deps.charges.clock();
    const exchange = openExchange({ route, target, parsed, requestId, at, request: own, decoded });
    return { target, bound, retry, exchange, keep: undefined, streamed: body.stream === true, at };
  }

  /** The plan of a call whose answer is kept, and that may continue one. */
  async #planKept<Body extends ChargeableBody>(planned: PlannedCall<Body>, keeper: ResponseKeeper): Promise<CallPlan> {
    const { incoming, parsed, target } = planned;
    const { principal, requestId } = incoming;
    const request = parseObject(parsed.bytes.toString("utf8")) ?? {};
    const call = { principal, target, request, callId: callIdOf(requestId) };
    const recalled = await keeper.recall(call);
    const plan = recalled === undefined ? this.#plan(planned, request) : this.#planRecalled(planned, request, recalled);
    // One that was made anew here has another id upstream, which the client never gets to know.
    const isKeptUpstream = target.operation.keeps !== undefined && plan.exchange.passesThrough;
    // Items that were only named are kept as what they stand for; what the upstream keeps need not stay in memory.
    const input = isKeptUpstream ? undefined : (recalled?.ownItems ?? request["input"]);
    const { store, previous_response_id } = request;
    const said = { ...call, request: { store, previous_response_id, input } };
    return { ...plan, keep: (response) => keeper.keep(said, response, isKeptUpstream) };
  }

  #planRecalled<Body extends ChargeableBody>(
    planned: PlannedCall<Body>,
    request: JsonObject,
    { body, earlierItems }: Recalled,
  ): CallPlan {
    const { route } = planned;
    try {
      const parsed = parseBody(Buffer.from(JSON.stringify(body)), route.body, route.dialect.measured);
      return this.#plan({ ...planned, parsed }, request, body);
    } catch (thrown) {
      throw thrown instanceof GatewayError ? inOwnWords(thrown, earlierItems) : thrown;
    }
  }

  /** The hold, which can refuse a call as well, or answer it. */
  async #admit<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    { target, bound, retry, streamed, at }: CallPlan,
    startedAt: number,
  ): Promise<RunningCall<Body> | Replay> {
    const { charges, logger } = this.#deps;
    const { request, requestId, principal } = incoming;
    if (this.#closing) throw shuttingDown();
    // From here on money is involved: a server that goes down waits for this call.
    const abort = new AbortController();
    const onEnd = (): void => void this.#running.delete(abort);
    this.#running.add(abort);
    try {
      const charge = await Charge.open(charges, {
        id: requestId,
        accountId: principal.accountId,
        purpose: `${route.operations[0]} ${target.route.prefix}/${target.model}`,
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
      const times = { startedAt, at };
      return new RunningCall({
        incoming,
        route,
        streamed,
        bound,
        retry,
        target,
        charge,
        patience,
        ...times,
        logger,
        onEnd,
      });
    } catch (thrown) {
      onEnd();
      throw thrown;
    }
  }

  async #relay<Body extends ChargeableBody>(call: RunningCall<Body>, plan: CallPlan): Promise<Response> {
    const { exchange } = plan;
    const { target, streamed, patience, incoming } = call.parts;
    const answer = await sendUpstream(this.#deps.environment, this.#deps.send, {
      target,
      below: exchange.below,
      body: exchange.body,
      streamed,
      clientHeaders: incoming.request.headers,
      passesThrough: exchange.passesThrough,
      patience,
    });
    if (!answer.ok) return relayFailure(call, exchange, answer);
    const events = answer.response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (!events) return this.#relayWhole(call, plan, answer.response);
    const { observe, passesThrough } = exchange;
    if (observe !== undefined && (streamed || passesThrough)) {
      return this.#relayEvents(call, plan, answer.response, observe);
    }
    await answer.response.body?.cancel();
    throw new GatewayError("upstream_invalid_answer", "The upstream answered with a stream that nobody asked for.");
  }

  async #relayWhole<Body extends ChargeableBody>(
    call: RunningCall<Body>,
    { exchange, keep }: CallPlan,
    response: Response,
  ): Promise<Response> {
    const { target, route, bound, patience, retry } = call.parts;
    const answer = await readWholeAnswer(response, target.operation, patience, this.#deps.send.idleMsMax);
    if (answer.failed) return relayFailure(call, exchange, failureWithin(answer, response));
    const { status } = response;
    const headers = { ...headersFor(call, response.headers), ...exchange.headers };
    const { body: shown, contentType, whole } = exchange.answer(answer);
    if (contentType !== undefined) headers["content-type"] = contentType;
    const observed = answer.usage ?? {
      usage: estimatedUsage(target.price, bound, route.dialect.outputBytes(answer.text)),
    };
    headers["x-tollgate-credits"] = formatCredits(call.costOf(observed));
    if (keep !== undefined) await this.#keep(call, keep, parseObject(whole));
    const kept = retry && { headers, body: new KeptBody().add(Buffer.from(shown)) };
    await call.end({ status, outcome: "complete", observed, answer: kept });
    return new Response(shown, { status, headers });
  }

  /** An answer that can't be kept is given all the same: it has been made, and is paid for. */
  async #keep<Body extends ChargeableBody>(
    call: RunningCall<Body>,
    keep: (response: JsonObject) => Promise<void>,
    response: JsonObject | undefined,
  ): Promise<void> {
    try {
      if (response !== undefined) await keep(response);
    } catch (reason) {
      this.#deps.logger.error(
        { request_id: call.parts.incoming.requestId, reason: String(reason) },
        "response not kept",
      );
    }
  }

  #relayEvents<Body extends ChargeableBody>(
    call: RunningCall<Body>,
    { keep }: CallPlan,
    response: Response,
    observeStream: ObserveStream,
  ): Response {
    const { bound, target, charge, patience, retry, incoming } = call.parts;
    const { status } = response;
    if (response.body === null) throw new GatewayError("upstream_invalid_answer", "The upstream's stream is empty.");
    const { observer: own, errorEvent, eventBytesMax } = observeStream();
    const catcher = keep === undefined ? undefined : new ResponseCatcher(own);
    const observer = catcher ?? own;
    const observe = (): ObservedUsage =>
      observer.usage ?? { usage: estimatedUsage(target.price, bound, observer.outputBytes) };
    charge.observeWith(observe, (error) => patience.abort.abort(error));
    const headers = { ...headersFor(call, response.headers), "cache-control": "no-cache", "x-accel-buffering": "no" };
    const kept = retry === undefined ? undefined : new KeptBody();
    const stream = relayStream(response.body, {
      observer,
      abort: patience.abort,
      ticker: this.#deps.charges.ticker,
      idleMsMax: this.#deps.send.idleMsMax,
      eventBytesMax,
      client: incoming.request,
      kept,
      errorEvent,
      scrub: (text) => target.route.keys.scrub(text),
      onFirstByte: () => call.firstByte(),
      onEnd: async (outcome, error) => {
        if (keep !== undefined) await this.#keep(call, keep, catcher?.response);
        const producedNothing = outcome !== "complete" && observer.usage === undefined && observer.outputBytes === 0;
        if (producedNothing && outcome !== "abandoned") return call.end({ status, outcome, error });
        return call.end({ status, outcome, observed: observe(), error, answer: kept && { headers, body: kept } });
      },
    });
    return new Response(stream, { status, headers });
  }
}

/** What is known of a call once its body has been read. */
interface PlannedCall<Body extends ChargeableBody> {
  route: ChargeableRoute<Body>;
  incoming: IncomingCall;
  parsed: ParsedBody<Body>;
  target: Target;
  /** Undefined for a call that is not answered a second time. */
  retry: RetryKey | undefined;
}

/** What a call's body has been made into. */
interface CallPlan {
  target: Target;
  bound: CallBound;
  /** Undefined for a call that is not answered a second time. */
  retry: RetryKey | undefined;
  exchange: Exchange;
  /** Keeps the response for later calls. */
  keep: ((response: JsonObject) => Promise<void>) | undefined;
  streamed: boolean;
  /** Since the epoch. */
  at: number;
}

type Failure = Extract<UpstreamAnswer, { ok: false }>;

/** A failure under a status that says success. */
function failureWithin({ text }: WholeAnswer, { status, headers }: Response): Failure {
  return { ok: false, status, headers, body: text };
}

/** An upstream's own error: relayed, and free. */
async function relayFailure<Body extends ChargeableBody>(
  call: RunningCall<Body>,
  exchange: Exchange,
  { status, headers, body }: Failure,
): Promise<Response> {
  // A redirection is not followed, since the key must not go along, and means nothing to the client.
  if (status >= 300 && status < 400) {
    throw new GatewayError("upstream_invalid_answer", `The upstream answered with status ${status}.`);
  }
  // A status that says success is left to a client of the upstream's own dialect, who knows what to make of it.
  const told = status < 400 && !exchange.passesThrough ? 502 : status;
  const shown = exchange.failure(told, call.parts.target.route.keys.scrub(body));
  await call.end({ status: told, outcome: "failed" });
  const all = { ...headersFor(call, headers), ...exchange.headers, "x-tollgate-credits": "0" };
  return new Response(shown, { status: told, headers: all });
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

function shuttingDown(): GatewayError {
  return new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
}
