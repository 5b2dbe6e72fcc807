/**
 * Creates a video job:
 *
 *   (receive) → targets → resolve → bound → (hold) → `create-job.ts`
 */
import { type FormDeclaration, isForm, parseBody, type ParsedBody, type ReceivedBody } from "../bodies/index.ts";
import {
  expectedCost,
  type PaidAnswer,
  type PaidRequest,
  type Planning,
  type RunningWork,
  type WayOfWork,
  type WorkOrder,
} from "../charges/index.ts";
import { GatewayError, type Nano, type VideoOperation } from "../core/index.ts";
import type { ObjectLookup } from "../objects/index.ts";
import { callTargets, type CallTargets, mayHaveTargets, type Target } from "../routing/index.ts";
import { planFirst, planNext } from "../sending/index.ts";
import { createJob } from "./create-job.ts";
import { type VideoQuestion, planVideo, sourceOf, type VideoPlan } from "./plan-video.ts";
import type { StoredVideo } from "./store.ts";
import type { VideoDependencies } from "./video-dependencies.ts";
import { videoBodyOf, videoFormOf, type VideoRequest } from "./video-request.ts";

/** Throws a `GatewayError` for what is refused; an upstream's refusal is relayed. */
export function createVideo(
  deps: VideoDependencies,
  operation: VideoOperation,
  request: PaidRequest,
  isOwn: boolean,
): Promise<PaidAnswer> {
  return deps.shell.run(request, new VideoCreation(deps, { operation, request, isOwn }));
}

class VideoCreation implements WayOfWork<VideoRequest, VideoPlan, Target> {
  readonly surface = "openai";
  readonly operation: string;
  readonly #operation: VideoOperation;
  readonly #isOwn: boolean;
  readonly form: FormDeclaration<VideoRequest> | undefined;
  readonly #deps: VideoDependencies;
  readonly #request: PaidRequest;
  /** Undefined for a job with one target. */
  #targets: CallTargets | undefined;
  /** Undefined for a job with one target. */
  #lookup: ObjectLookup | undefined;
  /** When it was planned first, whichever target it moves to. */
  #at: number | undefined;

  constructor(
    deps: VideoDependencies,
    { operation, request, isOwn }: { operation: VideoOperation; request: PaidRequest; isOwn: boolean },
  ) {
    this.#deps = deps;
    this.#request = request;
    this.#operation = operation;
    this.#isOwn = isOwn;
    // An answer in one shape is none to a request for the other.
    this.operation = isOwn ? `${operation} own` : operation;
    this.form = isForm(request.headers) ? { body: videoFormOf(operation), sound: false } : undefined;
  }

  parse(bytes: Uint8Array, address: ((bytes: Uint8Array) => Uint8Array) | undefined): ParsedBody<VideoRequest> {
    return parseBody(address?.(bytes) ?? bytes, videoBodyOf(this.#operation), []);
  }

  async plan(received: ReceivedBody<VideoRequest>, { retry, target }: Planning<Target>): Promise<VideoPlan> {
    const asked = this.#askedFor(received);
    const source = await sourceOf(this.#deps, asked);
    const planFor = (each: Target): Promise<VideoPlan> => this.#planFor(asked, { source, target: each, retry });
    if (target !== undefined) return planFor(target);
    const modelId = received.body.model ?? this.#modelOf(source);
    if (modelId === undefined) throw new GatewayError("validation_failed", "model: Required", { param: "model" });
    const targets = this.#targetsOf(modelId);
    if (targets === undefined) {
      return planFor(this.#deps.router.resolve(modelId, [this.#operation], this.#request.principal));
    }
    this.#targets = targets;
    asked.lookup = this.#lookup = this.#deps.storedObjects.lookup(targets.providers);
    return { ...(await planFirst(targets, planFor, { costOf })), targets };
  }

  async instead(
    refusal: unknown,
    received: ReceivedBody<VideoRequest>,
    { plan: { targets, order } }: { plan: VideoPlan },
  ): Promise<VideoPlan | undefined> {
    if (targets?.passesOver(refusal) !== true) return undefined;
    const asked = this.#askedFor(received);
    const source = await sourceOf(this.#deps, asked);
    const plan = await planNext(targets, (target) => this.#planFor(asked, { source, target, retry: order.retry }));
    return plan && { ...plan, targets };
  }

  ended(): void {
    this.#targets?.leave();
  }

  run(running: RunningWork<VideoPlan, Target>, plan: VideoPlan): Promise<PaidAnswer> {
    return createJob(this.#deps, running, plan, this.#request.headers);
  }

  /** The model of the video that is changed. Throws 422 for one of another provider than the address is for. */
  #modelOf(source: StoredVideo | undefined): string | undefined {
    const modelId = source && `${source.provider}/${source.model}`;
    return this.#request.modelOf?.(modelId) ?? modelId;
  }

  #askedFor(received: ReceivedBody<VideoRequest>): VideoQuestion {
    return { operation: this.#operation, principal: this.#request.principal, received, lookup: this.#lookup };
  }

  #targetsOf(modelId: string): CallTargets | undefined {
    const { router, busy, circuits, environment } = this.#deps;
    const { headers, principal } = this.#request;
    if (!mayHaveTargets(router, modelId, headers)) return undefined;
    const random = environment.randomFraction;
    const parts = { router, busy, circuits, random, session: undefined };
    return callTargets({ ...parts, modelId, operations: [this.#operation], principal, headers });
  }

  async #planFor(
    asked: VideoQuestion,
    { source, target, retry }: Pick<Planning<Target>, "retry"> & { source: StoredVideo | undefined; target: Target },
  ): Promise<VideoPlan> {
    const planned = await planVideo(this.#deps, asked, { source, target });
    const { route, model, modelId, price, priceOf } = target;
    this.#at ??= this.#deps.environment.clock();
    const order: WorkOrder = {
      id: this.#request.requestId,
      principal: asked.principal,
      operation: this.#operation,
      dialect: undefined,
      source: { provider: route.prefix, model, modelId },
      price,
      priceOf,
      bound: { inputTokens: 0, outputTokens: 0, choices: 1, ...planned.bound },
      streamed: false,
      retry,
      at: this.#at,
    };
    // A job is not ended by its client.
    return { ...planned, isOwn: this.#isOwn, order, clientGoneGraceMs: Number.POSITIVE_INFINITY };
  }
}

const costOf = (order: WorkOrder): Nano => expectedCost(order, 0);
