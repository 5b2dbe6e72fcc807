/**
 * The path of a chargeable call, the same for every route:
 *
 *   authenticate → validate → resolve model → hold → send upstream → relay and observe → settle or release
 *
 * Authentication happens in `http`, because free routes need it too; everything else is here.
 */
import { type BodyLimits, readBody, type ReceivedBody, receiveForm } from "../bodies/index.ts";
import {
  fingerprintOf,
  openWork,
  readRetryKey,
  resolveUsage,
  Work,
  type WorkDependencies,
  replay,
} from "../charges/index.ts";
import {
  type CallAbort,
  CallAborter,
  type CallFile,
  type Environment,
  type ErrorCode,
  formatCredits,
  GatewayError,
  limits,
  shuttingDown,
} from "../core/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import { CallWatchdog, type SendDependencies } from "../sending/index.ts";
import type { MemoryBudget } from "../streaming/index.ts";
import type { StoredObjects } from "../objects/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { captureRecords } from "./answer-records.ts";
import { buildResponse, storeOrLog } from "./build-response.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import type { CallAnswer, IncomingCall } from "./incoming-call.ts";
import { isLarge, type LargeBodies } from "./large-bodies.ts";
import { type CallPlan, planCall, type ReadCall } from "./plan-call.ts";
import { formOf, readJson, sourceOf } from "./receive-body.ts";
import { relayReply } from "./relay/relay-reply.ts";
import { RunningCall } from "./running-call.ts";
import { heeding } from "./exchange-text.ts";
import { readWhole, sendCall } from "./send-call.ts";

export interface PipelineDependencies extends SendDependencies {
  environment: Environment;
  router: ModelRouter;
  storedObjects: StoredObjects;
  work: WorkDependencies;
  body: BodyLimits;
  memory: MemoryBudget;
  largeBodies: LargeBodies;
  logger: Logger;
}

export class CallPipeline {
  readonly #deps: PipelineDependencies;
  /** Calls that have not ended, from before their hold to the last byte of their answer. */
  readonly #running = new Set<CallAbort>();
  #closing = false;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
  }

  /** Calls that have not ended, streams included. */
  get active(): number {
    return this.#running.size;
  }

  /** Accepts no calls from now on; running calls continue. */
  close(): void {
    this.#closing = true;
  }

  /** Ends the calls that are still open, each with an error in its own format, and charges their usage. */
  abortAll(): void {
    for (const abort of this.#running) abort.abort(shuttingDown());
  }

  /**
   * Runs one call. Throws `GatewayError` for everything that is refused or fails before an answer has begun. The
   * waiting steps are in one function: an async function each would cost more than most of the steps.
   */
  async run<Body extends ChargeableBody>(route: ChargeableRoute<Body>, incoming: IncomingCall): Promise<CallAnswer> {
    const arrivedAt = performance.now();
    const { logger, body: limited, largeBodies } = this.#deps;
    const { client, headers, body } = incoming;
    const form = formOf(route, incoming);
    const memory = this.#deps.memory.share();
    const abort = new CallAborter();
    let upload = noUpload;
    const onEnd = (): void => {
      this.#running.delete(abort);
      upload.free();
    };
    let call: RunningCall | undefined;
    try {
      let received: ReceivedBody<Body>;
      let size = 0;
      if (form === undefined) {
        const bytes = body instanceof Uint8Array ? body : await readBody(body, limited, memory);
        size = bytes.length;
        if (isLarge(size)) await largeBodies.turn();
        received = readJson(route, bytes);
      } else received = await receiveForm(sourceOf(incoming), form, limited);
      upload = uploadIn(received);
      const key = readRetryKey(headers);
      const retry =
        key === undefined ? undefined : { key, fingerprint: await fingerprintOf(route.operations[0], received) };
      if (isLarge(size)) await largeBodies.turn();
      const planned = planCall(this.#read(route, incoming, received, { retry, arrivedAt }));
      // Most calls are planned synchronously and need no promise.
      const plan = planned instanceof Promise ? await planned : planned;
      if (this.#closing) throw shuttingDown();
      // From here on money is involved: a stopping server waits for this call.
      this.#running.add(abort);
      const work = await openWork(this.#deps.work, plan.order);
      if (!(work instanceof Work)) return replay(work.answer, work.firstId);
      const { ticker } = this.#deps.work;
      const watchdog = new CallWatchdog({ ticker, abort, client, clientGoneGraceMs: clientGoneGraceMs(plan) });
      if (!plan.exchange.streamed) watchdog.limitTotal(this.#deps.send.totalMsMax);
      const { target } = plan;
      const { files } = upload;
      const { surface } = route;
      const answerMemory = this.#deps.memory.share();
      call = new RunningCall({
        work,
        target,
        surface,
        watchdog,
        client,
        ask: incoming.ask,
        headers,
        memory: answerMemory,
        files,
        onEnd,
      });
      const reply = await sendCall(this.#deps, call, plan);
      // The body has been sent.
      memory.free();
      const relayed = relayReply(this.#deps, call, plan, reply);
      if (relayed !== undefined) return relayed;
      const reading = readWhole(this.#deps, call, reply);
      const response = buildResponse(call, plan.exchange, reading instanceof Promise ? await reading : reading);
      const { keyId, whole } = response;
      if (plan.records !== undefined && keyId !== undefined) {
        const capture = captureRecords(plan.records);
        capture.readWhole(whole);
        await storeOrLog(logger, call.id, () => capture.save(keyId));
      }
      const shortfall = await call.end(response.end);
      const { observed } = response.end;
      if (shortfall > 0n && observed !== undefined) {
        response.headers["x-tollgate-credits"] = formatCredits(work.costOf(observed) - shortfall);
      }
      return response;
    } catch (thrown) {
      // The call fails with its own error, also if its end is not durable.
      if (call !== undefined) await endFailed(call, thrown).catch(() => undefined);
      throw thrown;
    } finally {
      memory.free();
      if (call === undefined) onEnd();
      else call.parts.watchdog.end();
    }
  }

  #read<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall,
    received: ReceivedBody<Body>,
    { retry, arrivedAt }: Pick<ReadCall<Body>, "retry" | "arrivedAt">,
  ): ReadCall<Body> {
    const { router, work, environment, storedObjects, largeBodies } = this.#deps;
    const resolved = router.resolve(received.body.model, route.operations, incoming.principal);
    const target = heeding(resolved, route.codec, received.body);
    const { randomBytes } = environment;
    const at = work.clock();
    return { route, incoming, received, target, retry, at, arrivedAt, randomBytes, storedObjects, largeBodies };
  }
}

/**
 * Ends a call without an answer. If its client disconnected after the request had been written, the upstream bills the
 * input, so the expected input is charged.
 */
function endFailed(call: RunningCall, thrown: unknown): Promise<unknown> {
  const error = thrown instanceof GatewayError ? thrown : undefined;
  const { work, watchdog } = call.parts;
  if (watchdog.isAbandoned && call.hasSentRequest) {
    const observed = resolveUsage(work.order, { upstream: undefined, outputBytes: () => 0 });
    return call.end({ status: error?.status ?? 500, outcome: "abandoned", observed, error });
  }
  const outcome = error !== undefined && refusals.has(error.code) ? "failed" : "interrupted";
  return call.end({ status: error?.status ?? 500, outcome, error });
}

/** Errors that represent an upstream's refusal of the call. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["moderation_blocked", "image_missing"]);

/**
 * How long a call continues after its client has disconnected. A stream ends at once, which stops its cost. A whole
 * answer is awaited for its usage, within a bound, because upstreams charge for it anyway. A call with a retry key
 * continues to its end: its answer is stored, and charged once.
 */
function clientGoneGraceMs({ order, exchange }: CallPlan): number {
  if (order.retry !== undefined) return Number.POSITIVE_INFINITY;
  return exchange.streamed ? 0 : limits.drainMsMax;
}

/** The part of a form that a call keeps, instead of its whole body: a stream may stay open for long. */
interface Upload {
  files: readonly CallFile[] | undefined;
  /** Frees the space of the files. */
  free: () => void;
}

/** A JSON body needs no freeing. */
const noUpload: Upload = { files: undefined, free: () => undefined };

function uploadIn<Body>(received: ReceivedBody<Body>): Upload {
  if (received.kind === "json") return noUpload;
  const { form, files } = received;
  return { files, free: () => void form.close() };
}
