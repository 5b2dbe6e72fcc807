/**
 * The shell of paid work, the same for every request that costs money:
 *
 *   receive → plan → hold, with the retry key (answered again?) → run → outcome, shortfall, stored answer → end
 *               └─ refused: a retry key that is known is answered all the same
 *
 * A way of work says how its bodies are planned and how its plans are run.
 */
import {
  type BodyLimits,
  type BodySource,
  readBody,
  type ReceivedBody,
  type ReceivedForm,
  receiveForm,
  withModel,
} from "../../bodies/index.ts";
import { type CallAbort, CallAborter, objectOf, shuttingDown } from "../../core/index.ts";
import { accountsBefore, type RetryKey } from "../../ledger/index.ts";
import type { MemoryBudget, MemoryShare } from "../../streaming/index.ts";
import type { WorkDependencies } from "../dependencies.ts";
import { openWork, type Replay } from "../open-work.ts";
import { resumeWork } from "../resume-work.ts";
import { forgetAnswer, openAnswered, storedFor } from "../retry/answered-work.ts";
import { fingerprintOf, readRetryKey, retryRefused } from "../retry/retry-key.ts";
import { replay } from "../retry/stored-answer.ts";
import { Work } from "../work.ts";
import type { PaidAnswer, PaidClient, PaidRequest, WorkPlan } from "./paid-request.ts";
import { namesOf, withDropped, withNames } from "./request-names.ts";
import { RunningWork, type WorkResult } from "./running-work.ts";
import { CallWatchdog } from "./watchdog.ts";
import type { WayOfWork } from "./way-of-work.ts";

export interface ShellDependencies {
  work: WorkDependencies;
  body: BodyLimits;
  memory: MemoryBudget;
}

export class WorkShell {
  readonly #deps: ShellDependencies;
  /** Works that have not ended, from before their hold to the last byte of their answer. */
  readonly #running = new Set<CallAbort>();
  #isClosing = false;

  constructor(deps: ShellDependencies) {
    this.#deps = deps;
  }

  /** Works that have not ended, streams included. */
  get active(): number {
    return this.#running.size;
  }

  /** Begins no work from now on; what runs continues. */
  close(): void {
    this.#isClosing = true;
  }

  /** Ends the works that still run, each with an error in its client's format, and charges their usage. */
  abortAll(): void {
    for (const abort of this.#running) abort.abort(shuttingDown());
  }

  /**
   * Performs one request. Throws `GatewayError` for everything that is refused or fails before an answer has begun. The
   * waiting steps are in one function: an async function each would cost more than most of the steps. Most bodies are read, and most
   * plans made, synchronously: they need no promise.
   */
  async run<Body, Plan extends WorkPlan, Target>(
    request: PaidRequest,
    way: WayOfWork<Body, Plan, Target>,
  ): Promise<PaidAnswer> {
    const { work: deps, body: limited, memory } = this.#deps;
    const { body, headers, client, modelOf } = request;
    const bodyMemory = memory.share();
    const abort = new CallAborter();
    // Not the body itself, which an answer that streams for long must not keep.
    let form: ReceivedForm | undefined;
    const onEnd = (result?: WorkResult): void => {
      way.ended?.(result);
      this.#leave(abort, bodyMemory);
      if (form !== undefined) void form.close();
    };
    let running: RunningWork<Plan, Target> | undefined;
    let retry: RetryKey | undefined;
    try {
      let received: ReceivedBody<Body>;
      if (way.form === undefined) {
        const bytes = body instanceof Uint8Array ? body : await readBody(body, limited, bodyMemory);
        const parsed = way.parse(bytes, modelOf && ((read) => withModel(read, modelOf, bodyMemory)));
        received = parsed instanceof Promise ? await parsed : parsed;
      } else received = await receiveForm(formIn(request), way.form, limited, modelOf);
      if (received.kind === "form") form = received.form;
      const key = readRetryKey(headers, way.retryKeyAlias);
      retry = key === undefined ? undefined : { key, fingerprint: await fingerprintIn(request, way, received) };
      if (request.unlessRepeated !== undefined) throw request.unlessRepeated;
      const planned = way.plan(received, { retry, memory: bodyMemory });
      let plan = planned instanceof Promise ? await planned : planned;
      const named = namesOf(deps, request, received);
      this.#begin(abort, withNames(plan, named, deps));
      let work = resumed(deps, request);
      let again = retry && (await this.#answeredBeforeMove(request, way, { retry, plan }));
      while (!(work instanceof Work)) {
        again ??= work && (await this.#answered(request, way, { retry, plan, found: work }));
        if (again !== undefined) return again;
        try {
          work = await openPlanned(deps, plan);
        } catch (refusal) {
          plan = withNames(await planInstead(way, { refusal, received, plan, memory: bodyMemory }), named, deps);
          work = undefined;
        }
      }
      const watchdog = this.#watchdogOf(plan, { abort, client });
      const parts = { work, watchdog, received, contents: deps.contents, bodyMemory, memory: memory.share(), onEnd };
      running = new RunningWork(way, request, parts);
      if (named.keepTags !== undefined) await named.keepTags();
      return withDropped(await way.run(running, plan), named);
    } catch (thrown) {
      // The request fails with its own error, also if its end is not durable.
      await running?.fail(thrown).catch(() => undefined);
      if (running !== undefined || this.#running.has(abort)) throw thrown;
      const answer = await this.#answeredAtAny(request, way, { retry });
      return answer ?? way.passOn?.(thrown) ?? Promise.reject(thrown);
    } finally {
      if (running === undefined || running.isParked) onEnd();
      if (running?.isDetached !== true) running?.watchdog.end();
    }
  }

  /** A call with a retry key goes on without its client. */
  #watchdogOf(
    { order, clientGoneGraceMs: usualMs }: WorkPlan,
    { abort, client }: { abort: CallAbort; client: PaidClient },
  ): CallWatchdog {
    const clientGoneGraceMs = order.retry === undefined ? usualMs : Number.POSITIVE_INFINITY;
    return new CallWatchdog({ ticker: this.#deps.work.ticker, abort, client, clientGoneGraceMs });
  }

  /** From here on money is involved: a stopping server waits for this work. */
  #begin(abort: CallAbort, { order: { streamed, principal }, endsWithToken = streamed }: WorkPlan): void {
    if (this.#isClosing) throw shuttingDown();
    this.#running.add(abort);
    // A whole answer that is under way ends as it is, whatever becomes of its token.
    if (endsWithToken) this.#deps.work.openAnswers.add(abort, principal);
  }

  #leave(abort: CallAbort, bodyMemory: MemoryShare): void {
    bodyMemory.free();
    this.#running.delete(abort);
    this.#deps.work.openAnswers.remove(abort);
  }

  /** The answer for a retry key that is known to the token's account, or to one that it had before. */
  async #answeredAtAny<Plan extends WorkPlan>(
    request: PaidRequest,
    way: Pick<WayOfWork<never, Plan>, "hasJob">,
    call: { retry: RetryKey | undefined },
  ): Promise<PaidAnswer | undefined> {
    return (await this.#answered(request, way, call)) ?? this.#answeredBeforeMove(request, way, call);
  }

  /** The answer of a call that was open when its token moved, and has ended at the account before: see `#answered`. */
  async #answeredBeforeMove<Plan extends WorkPlan>(
    { principal }: PaidRequest,
    way: Pick<WayOfWork<never, Plan>, "hasJob">,
    call: { retry: RetryKey | undefined; plan?: Plan },
  ): Promise<PaidAnswer | undefined> {
    for (const accountId of accountsBefore(principal.accountId)) {
      const answer = await this.#answered({ principal: { accountId } }, way, call);
      if (answer !== undefined) return answer;
    }
    return undefined;
  }

  /**
   * The answer for a retry key that is known; undefined if it is free. A repeated request may be refused because its target is gone by
   * now, and its answer is there all the same. Throws 409 for a key that is in use.
   */
  async #answered<Plan extends WorkPlan>(
    { principal: { accountId } }: { principal: { accountId: string } },
    way: Pick<WayOfWork<never, Plan>, "hasJob">,
    { retry, plan, found }: { retry: RetryKey | undefined; plan?: Plan; found?: Replay },
  ): Promise<PaidAnswer | undefined> {
    if (found !== undefined && way.hasJob === undefined) return replay(found.answer, found.firstId);
    if (retry === undefined) return undefined;
    const { work: deps } = this.#deps;
    const stored = await storedFor(deps, { accountId, retry });
    if (stored === undefined) return undefined;
    const { answer, firstId, isRunning } = stored;
    if (way.hasJob === undefined || (await way.hasJob(answer, plan))) return replay(answer, firstId);
    if (isRunning) throw retryRefused("retry-running");
    await forgetAnswer(deps, { accountId, retry }, firstId);
    return undefined;
  }
}

function openPlanned(deps: WorkDependencies, { order, ahead }: WorkPlan): Promise<Work | Replay> {
  return ahead === undefined ? openWork(deps, order) : openAnswered(deps, order, ahead);
}

/** The work of a request that was held before. */
function resumed(deps: WorkDependencies, { batched }: PaidRequest): Work | Replay | undefined {
  return batched?.kind === "answer" ? resumeWork(deps, batched.work) : undefined;
}

/** Of a request's key. The address of a form may decide about its model, which JSON contains. */
function fingerprintIn<Body>(
  { modelOf }: PaidRequest,
  { operation }: Pick<WayOfWork<Body, WorkPlan>, "operation">,
  received: ReceivedBody<Body>,
): Promise<string> {
  const isInAddress = modelOf !== undefined && received.kind === "form";
  const scope = isInAddress ? JSON.stringify([operation, objectOf(received.body)?.["model"]]) : operation;
  return fingerprintOf(scope, received);
}

/** The source of a form, which may have been read already. */
function formIn({ body, headers }: PaidRequest): BodySource | Response {
  return body instanceof Uint8Array ? new Response(Uint8Array.from(body), { headers }) : body;
}

/** The plan of another target, since the hold of this one is refused. Throws the refusal if there is none. */
async function planInstead<Body, Plan extends WorkPlan>(
  way: Pick<WayOfWork<Body, Plan>, "instead">,
  {
    refusal,
    received,
    ...refused
  }: { refusal: unknown; received: ReceivedBody<Body>; plan: Plan; memory: MemoryShare },
): Promise<Plan> {
  const other = await way.instead?.(refusal, received, refused);
  if (other === undefined) throw refusal;
  return other;
}
