/**
 * The way of a chargeable call, the same for every route:
 *
 *   authenticate → validate → resolve model → hold → send upstream → relay and observe → settle or release
 *
 * Authentication has happened in `http`, since routes that cost nothing need it too; everything else is here.
 */
import {
  editObject,
  type Environment,
  formatCredits,
  GatewayError,
  limits,
  type ObservedUsage,
} from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type CallReport, logCall } from "./call-log.ts";
import { Charge, type ChargeDependencies, estimatedUsage } from "./charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { relayedHeaders } from "./headers.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import { type BodyLimits, readBody } from "./read-body.ts";
import { relayStream } from "./relay-stream.ts";
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

/** One call under way. */
interface RunningCall<Body extends ChargeableBody> {
  incoming: IncomingCall;
  route: ChargeableRoute<Body>;
  parsed: ParsedBody<Body>;
  target: Target;
  charge: Charge;
  abort: AbortController;
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
    const abort = new AbortController();
    try {
      return await this.#answer(await this.#admit(route, incoming, abort));
    } catch (thrown) {
      this.#running.delete(abort);
      throw thrown;
    }
  }

  /** Everything that can refuse a call; the hold comes last. */
  async #admit<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    abort: AbortController,
  ): Promise<RunningCall<Body>> {
    const startedAt = performance.now();
    const { request, requestId, principal } = incoming;
    const parsed = parseBody(await readBody(request, this.#deps.body), route.body);
    const target = this.#deps.router.resolve(parsed.body.model, route.operation, principal);
    if (this.#closing) throw shuttingDown();
    // From here on money is involved: a server that goes down waits for this call.
    this.#running.add(abort);
    const charge = await Charge.open(this.#deps.charges, {
      id: requestId,
      accountId: principal.accountId,
      purpose: `${route.operation} ${target.modelId}`,
      price: target.price,
      bound: route.dialect.bound(parsed.body),
    });
    return { incoming, route, parsed, target, charge, abort, startedAt };
  }

  async #answer<Body extends ChargeableBody>(call: RunningCall<Body>): Promise<Response> {
    try {
      return await this.#relay(call);
    } catch (thrown) {
      call.charge.release();
      const error = thrown instanceof GatewayError ? thrown : undefined;
      this.#end(call, { status: error?.status ?? 500, outcome: "interrupted", usage: undefined, credits: 0n, error });
      throw thrown;
    }
  }

  async #relay<Body extends ChargeableBody>(call: RunningCall<Body>): Promise<Response> {
    const streamed = call.parsed.body.stream === true;
    const leave = this.#followClient(call, streamed);
    try {
      const answer = await sendUpstream(this.#deps.environment, this.#deps.send, {
        target: call.target,
        body: this.#upstreamBody(call),
        streamed,
        clientHeaders: call.incoming.request.headers,
        abort: call.abort,
      });
      if (!answer.ok) return this.#relayFailure(call, answer);
      const events = answer.response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
      return events ? this.#relayEvents(call, answer.response) : await this.#relayWhole(call, answer.response);
    } finally {
      leave();
    }
  }

  /**
   * What becomes of the upstream when the client goes away before the answer: a stream is ended, since that stops what
   * it costs; a whole answer is awaited for its usage, within a bound, since upstreams charge for it all the same.
   */
  #followClient<Body extends ChargeableBody>(call: RunningCall<Body>, streamed: boolean): () => void {
    const { signal } = call.incoming.request;
    const end = (): void => call.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    let cancelDrain: (() => void) | undefined;
    const onAbort = (): void => {
      if (streamed) end();
      else cancelDrain = this.#deps.charges.ticker.after(limits.drainMsMax, end);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    return () => {
      signal.removeEventListener("abort", onAbort);
      cancelDrain?.();
    };
  }

  #upstreamBody<Body extends ChargeableBody>({ parsed, target }: RunningCall<Body>): string {
    const edits = target.operation.edits(parsed.body);
    return editObject(parsed.text, parsed.members, [{ set: "model", value: JSON.stringify(target.model) }, ...edits]);
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
    const { charge, target, route, parsed } = call;
    const answer = await readWholeAnswer(response, target.operation, {
      abort: call.abort,
      ticker: this.#deps.charges.ticker,
      idleMsMax: this.#deps.send.idleMsMax,
    });
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
      usage: estimatedUsage(route.dialect.bound(parsed.body), route.dialect.outputBytes(answer.text)),
    };
    const { credits, committed } = charge.settle(observed);
    await committed;
    this.#end(call, { status: response.status, outcome: "complete", usage: observed.usage, credits });
    return new Response(answer.bytes, {
      status: response.status,
      headers: { ...headers, "x-tollgate-credits": formatCredits(credits) },
    });
  }

  #relayEvents<Body extends ChargeableBody>(call: RunningCall<Body>, response: Response): Response {
    const { route, parsed, target, charge } = call;
    if (response.body === null) throw new GatewayError("upstream_invalid_answer", "The upstream's stream is empty.");
    const observer = route.dialect.observe(parsed.body, (event) => target.operation.readUsage(event));
    const observed = (): ObservedUsage =>
      observer.usage ?? { usage: estimatedUsage(route.dialect.bound(parsed.body), observer.outputBytes) };
    charge.observeWith(observed);
    let firstByteAt: number | undefined;
    const stream = relayStream(response.body, {
      observer,
      abort: call.abort,
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
    { incoming, target, parsed, startedAt, abort }: RunningCall<Body>,
    result: Pick<CallReport, "status" | "outcome" | "usage" | "credits" | "error">,
    firstByteAt?: number,
  ): void {
    this.#running.delete(abort);
    logCall(this.#deps.logger, {
      requestId: incoming.requestId,
      principal: incoming.principal,
      target,
      streamed: parsed.body.stream === true,
      milliseconds: performance.now() - startedAt,
      millisecondsToFirstByte: firstByteAt,
      ...result,
    });
  }
}

function shuttingDown(): GatewayError {
  return new GatewayError("shutting_down", "The server is going down.", { retryAfterSeconds: 1 });
}
