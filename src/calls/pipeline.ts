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
  parseObject,
} from "../core/index.ts";
import type { RetryKey } from "../ledger/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { Charge, type ChargeDependencies, type ChargeRequest } from "./charge.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { openCharge } from "./open-charge.ts";
import { Patience } from "./patience.ts";
import { type CallPlan, planCall } from "./plan-call.ts";
import { relayAnswer } from "./relay-answer.ts";
import { readBody } from "./read-body.ts";
import { type CallBody, formOf, readJson, receiveForm } from "./receive-body.ts";
import { fingerprintOf, readRetryKey, replay } from "./retry-key.ts";
import { type IncomingCall, RunningCall } from "./running-call.ts";
import type { SendOptions } from "./send.ts";
import { readAnswer, sendCall } from "./send-call.ts";
import { keepResponse, showAnswer } from "./show-answer.ts";

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

  /**
   * Runs one call. Throws `GatewayError` for everything that is refused or fails before an answer has begun. The steps
   * that wait stand side by side here: an async function for each would cost a call more than most of the steps do.
   */
  async run<Body extends ChargeableBody>(route: ChargeableRoute<Body>, incoming: IncomingCall): Promise<Response> {
    const startedAt = performance.now();
    const { charges, logger, body: limited } = this.#deps;
    const { request } = incoming;
    const form = formOf(route, request);
    const received =
      form === undefined
        ? readJson(route, await readBody(request, limited))
        : await receiveForm(request, form, limited);
    const upload = uploadIn(received);
    const abort = new CallAborter();
    const onEnd = (): void => {
      this.#running.delete(abort);
      upload.free();
    };
    let call: RunningCall<Body> | undefined;
    try {
      const key = readRetryKey(request.headers);
      const retry =
        key === undefined ? undefined : { key, fingerprint: await fingerprintOf(route.operations[0], received) };
      const planned = this.#plan(route, incoming, received, retry);
      // Most calls are planned at once, and need no promise.
      const plan = planned instanceof Promise ? await planned : planned;
      if (this.#closing) throw shuttingDown();
      // From here on money is involved: a server that goes down waits for this call.
      this.#running.add(abort);
      const charge = await openCharge(charges, chargeRequest(route, incoming, plan));
      if (!(charge instanceof Charge)) return replay(charge.answer, charge.firstId);
      const patience = new Patience({ ticker: charges.ticker, abort, client: request, lingersMs: lingerMs(plan) });
      const { target, bound, streamed, at } = plan;
      const { files } = upload;
      call = new RunningCall({
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
      const sent = await sendCall(this.#deps, call, plan.exchange);
      const relayed = relayAnswer(this.#deps, call, plan, sent);
      if (relayed !== undefined) return relayed;
      const reading = readAnswer(this.#deps, call, sent);
      const shown = showAnswer(call, plan.exchange, reading instanceof Promise ? await reading : reading);
      if (plan.keep !== undefined) await keepResponse(logger, call, plan.keep, parseObject(shown.whole ?? ""));
      await call.end(shown.end);
      return new Response(shown.body, shown);
    } catch (thrown) {
      if (call !== undefined) await endFailed(call, thrown);
      throw thrown;
    } finally {
      if (call === undefined) onEnd();
      else call.parts.patience.end();
    }
  }

  #plan<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    received: CallBody<Body>,
    retry: RetryKey | undefined,
  ): CallPlan | Promise<CallPlan> {
    const { router, charges, environment } = this.#deps;
    const target = router.resolve(received.body.model, route.operations, incoming.principal);
    const at = charges.clock();
    return planCall({ route, incoming, received, target, retry, at, randomBytes: environment.randomBytes });
  }
}

function chargeRequest<Body extends ChargeableBody>(
  { operations }: ChargeableRoute<Body>,
  { requestId, principal }: IncomingCall,
  { target, bound, retry }: CallPlan,
): ChargeRequest {
  return {
    id: requestId,
    accountId: principal.accountId,
    purpose: `${operations[0]} ${target.route.prefix}/${target.model}`,
    price: target.price,
    bound,
    rates: principal.rates,
    retry,
  };
}

/** Ends a call that has no answer. */
function endFailed<Body extends ChargeableBody>(call: RunningCall<Body>, thrown: unknown): Promise<void> {
  const error = thrown instanceof GatewayError ? thrown : undefined;
  const outcome = error !== undefined && refusals.has(error.code) ? "failed" : "interrupted";
  return call.end({ status: error?.status ?? 500, outcome, error });
}

/** Errors by which an upstream's refusal is told that came as an answer. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["moderation_blocked", "image_missing"]);

/**
 * How long a call goes on when its client has gone: a stream not at all, since ending it stops what it costs; a whole
 * answer until its usage has come, within a bound, since upstreams charge for it all the same. One that may be sent again
 * goes on to its end: its answer is kept, and charged once.
 */
function lingerMs({ retry, exchange }: CallPlan): number {
  if (retry !== undefined) return Number.POSITIVE_INFINITY;
  return exchange.streamed ? 0 : limits.drainMsMax;
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
