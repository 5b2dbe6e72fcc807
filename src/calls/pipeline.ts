/**
 * The way of a chargeable call, the same for every route:
 *
 *   authenticate → validate → resolve model → hold → send upstream → relay and observe → settle or release
 *
 * Authentication has happened in `http`, since routes that cost nothing need it too; everything else is here.
 */
import {
  type BodyLimits,
  type CallAbort,
  CallAborter,
  type CallFile,
  type Environment,
  type ErrorCode,
  GatewayError,
  limits,
} from "../core/index.ts";
import type { RetryKey } from "../ledger/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { answerCall } from "./answer-call.ts";
import { Charge, type ChargeDependencies } from "./charge.ts";
import { openCharge, type Replay } from "./open-charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { Patience } from "./patience.ts";
import { type CallPlan, planCall } from "./plan-call.ts";
import { type CallBody, receiveBody } from "./receive-body.ts";
import { fingerprintOf, readRetryKey, replay } from "./retry-key.ts";
import { type IncomingCall, RunningCall } from "./running-call.ts";
import type { SendOptions } from "./send.ts";

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
  readonly #running = new Set<CallAbort>();
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
    const received = await receiveBody(incoming.request, route, this.#deps.body);
    const upload = uploadIn(received);
    let running: RunningCall<Body> | Replay;
    let plan: CallPlan;
    try {
      const planned = this.#plan(route, incoming, received);
      // Most calls are planned at once, and need no promise.
      plan = planned instanceof Promise ? await planned : planned;
      running = await this.#admit(route, incoming, upload, plan, startedAt);
    } catch (thrown) {
      upload.free();
      throw thrown;
    }
    if (!(running instanceof RunningCall)) {
      upload.free();
      return replay(running.answer, running.firstId);
    }
    try {
      return await answerCall(this.#deps, running, plan);
    } catch (thrown) {
      const error = thrown instanceof GatewayError ? thrown : undefined;
      const outcome = error !== undefined && refusals.has(error.code) ? "failed" : "interrupted";
      await running.end({ status: error?.status ?? 500, outcome, error });
      throw thrown;
    } finally {
      running.parts.patience.end();
    }
  }

  #plan<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    received: CallBody<Body>,
  ): CallPlan | Promise<CallPlan> {
    const key = readRetryKey(incoming.request.headers);
    if (key === undefined) return this.#planOnce(route, incoming, received, undefined);
    const fingerprint = fingerprintOf(route.operations[0], received);
    return fingerprint.then((known) => this.#planOnce(route, incoming, received, { key, fingerprint: known }));
  }

  #planOnce<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    received: CallBody<Body>,
    retry: RetryKey | undefined,
  ): CallPlan | Promise<CallPlan> {
    const target = this.#deps.router.resolve(received.body.model, route.operations, incoming.principal);
    const { charges, environment } = this.#deps;
    const at = charges.clock();
    return planCall({ route, incoming, received, target, retry, at, randomBytes: environment.randomBytes });
  }

  /** The hold, which can refuse a call as well, or answer it. */
  async #admit<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    { files, free }: Upload,
    { target, bound, retry, streamed, exchange, at }: CallPlan,
    startedAt: number,
  ): Promise<RunningCall<Body> | Replay> {
    const { charges, logger } = this.#deps;
    const { request, requestId, principal } = incoming;
    if (this.#closing) throw shuttingDown();
    // From here on money is involved: a server that goes down waits for this call.
    const abort = new CallAborter();
    const onEnd = (): void => {
      this.#running.delete(abort);
      free();
    };
    this.#running.add(abort);
    try {
      const charge = await openCharge(charges, {
        id: requestId,
        accountId: principal.accountId,
        purpose: `${route.operations[0]} ${target.route.prefix}/${target.model}`,
        price: target.price,
        bound,
        rates: principal.rates,
        retry,
      });
      if (!(charge instanceof Charge)) {
        this.#running.delete(abort);
        return charge;
      }
      const lingersMs = lingerMs(retry !== undefined, exchange.streamed);
      const patience = new Patience({ ticker: charges.ticker, abort, client: request, lingersMs });
      return new RunningCall({
        incoming,
        route,
        streamed,
        bound,
        files,
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
      this.#running.delete(abort);
      throw thrown;
    }
  }
}

/** Errors by which an upstream's refusal is told that came as an answer. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["moderation_blocked", "image_missing"]);

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

/** What a call keeps of a form, and not the whole of its body: a stream may stay open for long. */
interface Upload {
  files: readonly CallFile[] | undefined;
  /** Gives the room of the files back. */
  free: () => void;
}

/** A body in JSON keeps no room of its own. */
const noUpload: Upload = { files: undefined, free: () => undefined };

function uploadIn<Body>(received: CallBody<Body>): Upload {
  if (received.kind === "json") return noUpload;
  const { form, files } = received;
  return { files, free: () => void form.close() };
}
