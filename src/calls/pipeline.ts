/**
 * The path of a chargeable call, the same for every route, within the shell of all paid work:
 *
 *   validate → resolve model → plan ─(hold)─▶ send upstream → relay and observe, or read → answer
 */
import {
  type FormDeclaration,
  isForm,
  isLarge,
  parseBody,
  type ParsedBody,
  type ReceivedBody,
} from "../bodies/index.ts";
import {
  type BatchedCall,
  expectedCost,
  type PaidAnswer,
  type Planning,
  type RunningWork,
  type WayOfWork,
  type WorkDependencies,
  type WorkOrder,
  type WorkResult,
  type WorkShell,
} from "../charges/index.ts";
import type { Environment, Nano } from "../core/index.ts";
import { thoughtsOf, translations } from "../dialects/index.ts";
import type { ObjectLookup } from "../objects/index.ts";
import {
  type BusyTargets,
  callTargets,
  type CallTargets,
  mayHaveTargets,
  modelsIn,
  type ModelRouter,
  type SessionCaches,
  type Target,
} from "../routing/index.ts";
import { planFirst, planNext, type Reply } from "../sending/index.ts";
import type { MemoryShare } from "../streaming/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { affinityOf } from "./affinity.ts";
import { captureRecords } from "./answer-records.ts";
import { answeredTarget, batchedReply, batchedTarget, holdForBatch, requireBatchable } from "./batched-call.ts";
import { failedAnswer, nameTarget, storeOrLog, wholeAnswer } from "./build-response.ts";
import type { ChargeableBody, ChargeableRoute } from "./chargeable-route.ts";
import { withAskedFeatures } from "./choose-operation.ts";
import { type HostedLoops, LoopNeeded } from "./hosted-loops.ts";
import type { IncomingCall } from "./incoming-call.ts";
import { parseEdited } from "./edit-body.ts";
import { type CallPlan, planCall, type PlanDependencies } from "./plan-call.ts";
import { relayReply } from "./relay/relay-reply.ts";
import { isLeftToUpstream, leaveToUpstream, runInBackground } from "./background/run-in-background.ts";
import { answerInTime } from "./routed/late-answer.ts";
import { type RoutedDependencies, sendRouted } from "./routed/send-routed.ts";
import { readWhole, sendCall } from "./send-call.ts";

export interface PipelineDependencies extends RoutedDependencies, PlanDependencies {
  environment: Environment;
  router: ModelRouter;
  /** Calls with several targets, by target. */
  busy: BusyTargets;
  caches: SessionCaches;
  work: Pick<WorkDependencies, "clock">;
  shell: WorkShell;
  logger: Logger;
  /** Performs calls with tools that the gateway runs; undefined if it runs none. */
  hosted?: HostedLoops | undefined;
}

export class CallPipeline {
  readonly #deps: PipelineDependencies;

  constructor(deps: PipelineDependencies) {
    this.#deps = deps;
  }

  /** Runs one call: see `WorkShell.run`. */
  run<Body extends ChargeableBody>(route: ChargeableRoute<Body>, incoming: IncomingCall): Promise<PaidAnswer> {
    return this.#deps.shell.run(incoming, new CallWay(this.#deps, route, incoming));
  }
}

/** Of whichever target. */
type PlanningOfAny = Omit<Planning<Target>, "target">;

class CallWay<Body extends ChargeableBody> implements WayOfWork<Body, CallPlan, Target> {
  readonly surface;
  readonly operation;
  readonly form: FormDeclaration<Body> | undefined;
  readonly #deps: PipelineDependencies;
  readonly #route: ChargeableRoute<Body>;
  readonly #incoming: IncomingCall;
  readonly #arrivedAt = performance.now();
  /** Undefined for a call with one target. */
  #targets: CallTargets | undefined;
  /** Undefined for a call with one target. */
  #lookup: ObjectLookup | undefined;
  /** Takes the call over, if it needs that: only before it has begun. */
  #hosted: HostedLoops | undefined;
  /** The other models that the body names as targets, which no upstream is to get. */
  #models: readonly string[] | undefined;

  constructor(deps: PipelineDependencies, route: ChargeableRoute<Body>, incoming: IncomingCall) {
    this.#deps = deps;
    this.#route = route;
    this.#incoming = incoming;
    this.surface = route.surface;
    this.operation = route.operations[0];
    const { form, body } = route;
    this.form = form !== undefined && (body === undefined || isForm(incoming.headers)) ? form : undefined;
  }

  parse(
    received: Uint8Array,
    address: ((bytes: Uint8Array) => Uint8Array) | undefined,
  ): ParsedBody<Body> | Promise<ParsedBody<Body>> {
    const { body, codec, members } = this.#route;
    if (body === undefined) throw new Error(`the route of ${this.operation} takes no JSON`);
    const read = (): ParsedBody<Body> => {
      const bytes = address === undefined || members !== undefined ? received : address(received);
      return parseBody(bytes, body, codec.measured, members);
    };
    if (!isLarge(received.length)) return read();
    return this.#deps.largeBodies.turn(this.#incoming.principal.user).then(read);
  }

  plan(received: ReceivedBody<Body>, planning: Planning<Target>): CallPlan | Promise<CallPlan> {
    const { dialect } = this.#route.codec;
    const { round, batched } = this.#incoming;
    const isOpen = round === undefined && batched?.kind !== "answer";
    const isWhole = dialect !== undefined && planning.target === undefined && isOpen;
    this.#hosted = isWhole ? this.#deps.hosted : undefined;
    if (received.kind === "form" || !isLarge(received.bytes.length)) return this.#plan(received, planning);
    return this.#deps.largeBodies.turn(this.#incoming.principal.user).then(() => this.#plan(received, planning));
  }

  #plan(received: ReceivedBody<Body>, planning: Planning<Target>): CallPlan | Promise<CallPlan> {
    const { target } = planning;
    if (target !== undefined) return this.#planFor(received, target, planning);
    const { router, circuits, busy } = this.#deps;
    const { operations } = this.#route;
    const { principal, headers, batched, round } = this.#incoming;
    const modelId = received.body.model;
    if (batched?.kind === "answer") {
      return this.#planFor(received, answeredTarget(router, batched.work, operations), planning);
    }
    if (batched !== undefined) {
      const batchTarget = batchedTarget(router.resolve(modelId, operations, principal));
      return this.#planHeld(this.#planFor(received, batchTarget, planning), batched);
    }
    const mayName = received.body["models"] !== undefined && this.#route.codec.dialect === "chat";
    const models = mayName ? modelsIn(router, received.body) : undefined;
    this.#models = models;
    if (models !== undefined || mayHaveTargets(router, modelId, headers)) {
      const random = this.#deps.environment.randomFraction;
      const session = affinityOf({ headers, received });
      const asked = { modelId, operations, principal, headers, models, session, stay: round?.stay };
      const targets = callTargets({ router, circuits, busy, random, ...asked });
      if (targets !== undefined) return this.#planFirst(received, targets, planning);
    }
    return this.#planFor(received, router.resolve(modelId, operations, principal), planning);
  }

  async #planHeld(
    planning: CallPlan | Promise<CallPlan>,
    { otherwise }: Extract<BatchedCall, { kind: "hold" }>,
  ): Promise<CallPlan> {
    const plan = await planning;
    requireBatchable(plan, otherwise);
    return plan;
  }

  /** The plan of the first of several targets that the call can be made to. */
  async #planFirst(received: ReceivedBody<Body>, targets: CallTargets, planning: PlanningOfAny): Promise<CallPlan> {
    this.#targets = targets;
    this.#lookup = this.#deps.storedObjects.lookup(targets.providers);
    const costOf = (order: WorkOrder): Nano =>
      expectedCost(order, this.#deps.caches.of(targets.session, order.source.modelId));
    const preferred = await this.#makerOfThoughts(received, this.#lookup);
    const planFor = (target: Target) => this.#planFor(received, target, planning);
    const plan = await planFirst(targets, planFor, { costOf, preferred });
    return { ...plan, targets };
  }

  /** The provider that made the newest encrypted thoughts of the history: it alone can read them. */
  async #makerOfThoughts(received: ReceivedBody<Body>, lookup: ObjectLookup): Promise<string | undefined> {
    const thoughts = received.kind === "form" ? [] : thoughtsOf(received.body);
    if (thoughts.length === 0) return undefined;
    return this.#deps.storedObjects.makerOf(thoughts, { principal: this.#incoming.principal, lookup });
  }

  async instead(
    refusal: unknown,
    received: ReceivedBody<Body>,
    { plan: { targets, order }, memory }: { plan: CallPlan; memory: MemoryShare },
  ): Promise<CallPlan | undefined> {
    if (targets?.passesOver(refusal) !== true) return undefined;
    this.#hosted = undefined;
    const plan = await planNext(targets, (target) => this.#planFor(received, target, { retry: order.retry, memory }));
    return plan && { ...plan, targets };
  }

  #planFor(
    received: ReceivedBody<Body>,
    resolved: Target,
    { retry, memory }: PlanningOfAny,
  ): CallPlan | Promise<CallPlan> {
    const deps = this.#deps;
    const route = this.#route;
    const incoming = this.#incoming;
    const own =
      this.#models === undefined || received.kind === "form"
        ? received
        : parseEdited(received, [{ remove: "models" }], route);
    const target = withAskedFeatures(resolved, route.codec, own.body);
    this.#leaveToLoop(own, target);
    const at = deps.work.clock();
    const arrivedAt = this.#arrivedAt;
    const session = this.#targets?.session;
    const lookup = this.#lookup;
    return planCall({ deps, route, incoming, received: own, target, retry, memory, session, lookup, at, arrivedAt });
  }

  /** Throws `LoopNeeded` for a body with a tool that the gateway runs. */
  #leaveToLoop(received: ReceivedBody<Body>, target: Target): void {
    const { dialect } = this.#route.codec;
    if (this.#hosted === undefined || dialect === undefined || received.kind === "form") return;
    const { body, text, bytes } = received;
    const { principal } = this.#incoming;
    if (this.#hosted.takes({ dialect, body, text, target, principal })) throw new LoopNeeded(bytes, target);
  }

  passOn(thrown: unknown): Promise<PaidAnswer> | undefined {
    const { hosted } = this.#deps;
    if (!(thrown instanceof LoopNeeded) || hosted === undefined) return undefined;
    const incoming = this.#incoming;
    if (incoming.batched?.kind === "hold") throw incoming.batched.otherwise;
    return hosted.run(this.#route, { ...incoming, body: thrown.bytes, modelOf: undefined }, thrown.target);
  }

  #noteTarget(targets: CallTargets | undefined): void {
    const given = targets?.given;
    if (given !== undefined) this.#incoming.round?.answeredBy(given);
  }

  ended(result: WorkResult | undefined): void {
    const model = this.#targets?.leave();
    if (model === undefined || result?.observed === undefined) return;
    this.#deps.caches.note(this.#targets?.session, model, result.observed.usage);
  }

  run(running: RunningWork<CallPlan, Target>, plan: CallPlan): Promise<PaidAnswer> {
    const { background, targets } = plan;
    const { batched } = this.#incoming;
    if (batched?.kind === "hold") return holdForBatch(running, plan, batched);
    if (background !== undefined) {
      return runInBackground(running, plan, { ...background, perform: () => this.#run(running, plan) });
    }
    return targets === undefined ? this.#run(running, plan) : this.#inTime(running, plan, targets);
  }

  /** Sends the head of a stream within `head_wait`, even if no target has answered by then. */
  #inTime(running: RunningWork<CallPlan, Target>, plan: CallPlan, { limits }: CallTargets): Promise<PaidAnswer> {
    const answering = this.#run(running, plan);
    const { streamed, operation } = plan.order;
    const dialect = this.#route.codec.dialect ?? (operation === "completion" ? "chat" : undefined);
    if (dialect === undefined || !streamed) return answering;
    const { headMsMax } = limits ?? this.#deps.routeLimits;
    return answerInTime(answering, { running, headMsMax, translation: translations[dialect] });
  }

  async #run(running: RunningWork<CallPlan, Target>, first: CallPlan): Promise<PaidAnswer> {
    const deps = this.#deps;
    let plan = first;
    let sent: Reply;
    try {
      if (!plan.exchange.streamed) running.watchdog.limitTotal(deps.send.totalMsMax);
      const { batched } = this.#incoming;
      if (batched?.kind === "answer") sent = batchedReply(plan, batched.reply);
      else if (plan.targets === undefined) sent = await sendCall(deps, running, plan);
      else {
        ({ plan, reply: sent } = await sendRouted(deps, running, plan, plan.targets));
        this.#noteTarget(first.targets);
      }
      running.freeBody();
      const { records } = plan;
      const relayed = relayReply(deps, running, plan, sent);
      if (relayed !== undefined) return relayed;
      const reading = readWhole(deps, plan, sent, running);
      const reply = reading instanceof Promise ? await reading : reading;
      if (reply.kind === "failed") {
        const refused = failedAnswer(running, plan, reply);
        await running.end({ status: refused.status, outcome: "failed" });
        return refused;
      }
      const { background } = plan;
      if (background !== undefined && isLeftToUpstream(background, reply)) {
        return await leaveToUpstream(running, plan, background, reply);
      }
      const { answer, whole, observed } = wholeAnswer(running, plan, reply);
      let used = observed;
      if (records !== undefined) {
        const capture = captureRecords(records);
        capture.readWhole(whole);
        await storeOrLog(deps.logger, running.id, () => capture.save(reply.keyId));
        used = capture.withoutContinued(observed);
      }
      await running.answer(answer, used);
      return answer;
    } catch (thrown) {
      nameTarget(thrown, running, plan);
      throw thrown;
    }
  }
}
