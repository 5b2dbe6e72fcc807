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
  type ObservedUsage,
} from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type CallReport, logCall } from "./call-log.ts";
import { Charge, type ChargeDependencies, estimatedUsage } from "./charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { CallBound } from "../dialects/index.ts";
import { relayedHeaders } from "./headers.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import { type BodyLimits, readBody } from "./read-body.ts";
import { relayStream } from "./relay-stream.ts";
import { Patience } from "./patience.ts";
import { readWholeAnswer } from "./relay-whole.ts";
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

/** A request that has been authenticated. */
export interface IncomingCall {
  request: Request;
  requestId: string;
  principal: Principal;
}

/** One call under way. What its body said is left behind once it has been sent: a stream may stay open for long. */
interface RunningCall<Body extends ChargeableBody> {
  incoming: IncomingCall;
  route: ChargeableRoute<Body>;
  streamed: boolean;
  bound: CallBound;
  target: Target;
  charge: Charge;
  patience: Patience;
  startedAt: number;
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
    try {
      return await this.#relay(call, parsed);
    } catch (thrown) {
      call.charge.release();
      const error = thrown instanceof GatewayError ? thrown : undefined;
      this.#end(call, { status: error?.status ?? 500, outcome: "interrupted", usage: undefined, credits: 0n, error });
      throw thrown;
    } finally {
      call.patience.end();
    }
  }

  /** Everything else that can refuse a call; the hold comes last. */
  async #admit<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    { body, sizeOf }: ParsedBody<Body>,
    startedAt: number,
  ): Promise<RunningCall<Body>> {
    const { request, requestId, principal } = incoming;
    const target = this.#deps.router.resolve(body.model, route.operation, principal);
    const bound = route.dialect.bound(body, sizeOf);
    const streamed = body.stream === true;
    if (this.#closing) throw shuttingDown();
    // From here on money is involved: a server that goes down waits for this call.
    const abort = new AbortController();
    this.#running.add(abort);
    try {
      const charge = await Charge.open(this.#deps.charges, {
        id: requestId,
        accountId: principal.accountId,
        purpose: `${route.operation} ${target.modelId}`,
        price: target.price,
        bound,
      });
      const { ticker } = this.#deps.charges;
      const patience = new Patience({ ticker, abort, client: request, endsWithClient: streamed });
      return { incoming, route, streamed, bound, target, charge, patience, startedAt };
    } catch (thrown) {
      this.#running.delete(abort);
      throw thrown;
    }
  }

  async #relay<Body extends ChargeableBody>(call: RunningCall<Body>, parsed: ParsedBody<Body>): Promise<Response> {
    const { target, streamed, patience, incoming } = call;
    const answer = await sendUpstream(this.#deps.environment, this.#deps.send, {
      target,
      body: upstreamBody(target, parsed),
      streamed,
      clientHeaders: incoming.request.headers,
      patience,
    });
    if (!answer.ok) return this.#relayFailure(call, answer);
    const events = answer.response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    return events ? this.#relayEvents(call, parsed.body, answer.response) : this.#relayWhole(call, answer.response);
  }

  /** An upstream's own error: relayed as it is, and free. */
  #relayFailure<Body extends ChargeableBody>(
    call: RunningCall<Body>,
    answer: Extract<UpstreamAnswer, { ok: false }>,
  ): Response {
    // A redirection is not followed, since the key must not go along, and means nothing to the client.
    if (answer.status < 400) {
      throw new GatewayError("upstream_invalid_answer", `The upstream answered with status ${answer.status}.`);
    }
    call.charge.release();
    this.#end(call, { status: answer.status, outcome: "failed", usage: undefined, credits: 0n });
    const headers = relayedHeaders(answer.headers, call.target.route.sandbox);
    return new Response(answer.body, { status: answer.status, headers: { ...headers, "x-tollgate-credits": "0" } });
  }

  async #relayWhole<Body extends ChargeableBody>(call: RunningCall<Body>, response: Response): Promise<Response> {
    const { charge, target, route, bound, patience } = call;
    const answer = await readWholeAnswer(response, target.operation, patience, this.#deps.send.idleMsMax);
    const headers = relayedHeaders(response.headers, target.route.sandbox);
    if (answer.failed) {
      charge.release();
      this.#end(call, { status: response.status, outcome: "failed", usage: undefined, credits: 0n });
      return new Response(target.route.keys.scrub(answer.text), {
        status: response.status,
        headers: { ...headers, "x-tollgate-credits": "0" },
      });
    }
    const observed = answer.usage ?? {
      usage: estimatedUsage(bound, route.dialect.outputBytes(answer.text)),
    };
    const { credits, committed } = charge.settle(observed);
    await committed;
    this.#end(call, { status: response.status, outcome: "complete", usage: observed.usage, credits });
    return new Response(answer.bytes, {
      status: response.status,
      headers: { ...headers, "x-tollgate-credits": formatCredits(credits) },
    });
  }

  #relayEvents<Body extends ChargeableBody>(call: RunningCall<Body>, body: Body, response: Response): Response {
    const { route, bound, target, charge, patience } = call;
    if (response.body === null) throw new GatewayError("upstream_invalid_answer", "The upstream's stream is empty.");
    const observer = route.dialect.observe(body, (event) => target.operation.readUsage(event));
    const observed = (): ObservedUsage => observer.usage ?? { usage: estimatedUsage(bound, observer.outputBytes) };
    charge.observeWith(observed);
    let firstByteAt: number | undefined;
    const stream = relayStream(response.body, {
      observer,
      abort: patience.abort,
      ticker: this.#deps.charges.ticker,
      clock: this.#deps.environment.clock,
      idleMsMax: this.#deps.send.idleMsMax,
      errorEvent: (error) => route.dialect.errorEvent(error, call.incoming.requestId),
      scrub: (text) => target.route.keys.scrub(text),
      onFirstByte: () => {
        firstByteAt = performance.now() - call.startedAt;
      },
      onEnd: (outcome, error) => {
        const producedNothing = outcome !== "complete" && observer.usage === undefined && observer.outputBytes === 0;
        const free = producedNothing && outcome !== "abandoned";
        if (free) charge.release();
        const used = free ? undefined : observed();
        const { credits, committed } =
          used === undefined ? { credits: 0n, committed: Promise.resolve() } : charge.settle(used);
        this.#end(call, { status: response.status, outcome, usage: used?.usage, credits, error }, firstByteAt);
        return committed;
      },
    });
    const headers = relayedHeaders(response.headers, target.route.sandbox);
    return new Response(stream, {
      status: response.status,
      headers: { ...headers, "cache-control": "no-cache", "x-accel-buffering": "no" },
    });
  }

  #end<Body extends ChargeableBody>(
    { incoming, target, streamed, startedAt, patience }: RunningCall<Body>,
    result: Pick<CallReport, "status" | "outcome" | "usage" | "credits" | "error">,
    firstByteAt?: number,
  ): void {
    this.#running.delete(patience.abort);
    logCall(this.#deps.logger, {
      requestId: incoming.requestId,
      principal: incoming.principal,
      target,
      streamed,
      milliseconds: performance.now() - startedAt,
      millisecondsToFirstByte: firstByteAt,
      ...result,
    });
  }
}

/** The body as the upstream is to get it: under its own name of the model, all else as the caller wrote it. */
function upstreamBody<Body extends ChargeableBody>(target: Target, parsed: ParsedBody<Body>): Uint8Array {
  const model = { set: "model", value: bytewise(JSON.stringify(target.model)) };
  return editBytes(parsed.bytes, parsed.text, parsed.members, [model, ...target.operation.edits(parsed.body)]);
}

function shuttingDown(): GatewayError {
  return new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
}
