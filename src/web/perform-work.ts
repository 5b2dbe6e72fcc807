/**
 * How one paid request on the web is planned and run. Nothing that a target answers is a failure, except that it cannot be
 * read.
 */
import { z } from "zod";
import {
  decodeBody,
  type FormBody,
  type FormDeclaration,
  parseBody,
  type ParsedBody,
  type ReceivedBody,
} from "../bodies/index.ts";
import type { PaidAnswer, PaidRequest, Planning, RunningWork, WayOfWork, WorkPlan } from "../charges/index.ts";
import {
  creditsNumber,
  type JsonObject,
  parseObject,
  statusOn,
  type Surface,
  type WebOperation,
} from "../core/index.ts";
import { EngineRefusal, type Performed, type WebPlan } from "./engine.ts";
import { ChargedFailure } from "./failures.ts";
import type { BodyTranslation } from "./v1/index.ts";
import type { WebDependencies } from "./web-dependencies.ts";

/** One kind of request. */
export interface WebOperationSteps<Result> {
  operation: WebOperation;
  plan: (body: JsonObject) => WebPlan<Result>;
  /** The body of the answer; `credits` is what the request has cost in total, `asked` its own body. */
  answer: (result: Result, credits: number, asked: JsonObject) => JsonObject;
  /** For a request that is a form. */
  form?: {
    declaration: FormDeclaration<JsonObject>;
    /** The plan, and the body that `answer` gets as `asked`. Throws 422. */
    plan: (form: FormBody<JsonObject>) => { work: WebPlan<Result>; asked: JsonObject };
  };
  /** Between Firecrawl's v1 API and v2, for a caller who speaks v1. */
  translation?: BodyTranslation | undefined;
}

interface PlannedRequest<Result> extends WorkPlan {
  work: WebPlan<Result>;
  asked: JsonObject;
}

/** Any object: each plan has its own schema, and an engine may have others. */
const anyObject = z.looseObject({});

/** Throws a `GatewayError` for a refusal or a failure. */
export function performWork<Result extends Performed>(
  deps: WebDependencies,
  request: PaidRequest,
  steps: WebOperationSteps<Result>,
): Promise<PaidAnswer> {
  return deps.shell.run(request, new WebWay(deps, request, steps));
}

class WebWay<Result extends Performed> implements WayOfWork<JsonObject, PlannedRequest<Result>> {
  readonly surface: Surface;
  readonly operation: string;
  readonly form: FormDeclaration<JsonObject> | undefined;
  readonly #deps: WebDependencies;
  readonly #request: PaidRequest;
  readonly #steps: WebOperationSteps<Result>;

  constructor(deps: WebDependencies, request: PaidRequest, steps: WebOperationSteps<Result>) {
    this.#deps = deps;
    this.#request = request;
    this.#steps = steps;
    const isV1 = steps.translation !== undefined;
    // A retry key of one version finds no answer in the shape of the other.
    this.form = steps.form?.declaration;
    this.operation = steps.form !== undefined ? "/v2/parse" : isV1 ? `/v1/${steps.operation}` : steps.operation;
    this.surface = isV1 ? "firecrawl_v1" : "firecrawl";
  }

  parse(bytes: Uint8Array): ParsedBody<JsonObject> {
    return parseBody(bytes, anyObject, []);
  }

  plan(received: ReceivedBody<JsonObject>, { retry }: Planning<never>): PlannedRequest<Result> {
    const { engineName: model, price, environment } = this.#deps;
    const { requestId: id, parent, principal } = this.#request;
    const { work, asked } = this.#planned(received);
    const order = {
      id,
      parent,
      principal,
      operation: this.#steps.operation,
      dialect: undefined,
      source: { provider: "web", model, modelId: `web/${model}` },
      price,
      bound: { inputTokens: 0, outputTokens: 0, choices: 1, inputUnits: work.bound },
      streamed: false,
      retry,
      at: environment.clock(),
    };
    return { order, clientGoneGraceMs: 0, work, asked };
  }

  #planned(received: ReceivedBody<JsonObject>): { work: WebPlan<Result>; asked: JsonObject } {
    const { form, plan, translation } = this.#steps;
    if (received.kind === "form") {
      if (form === undefined) throw new Error("this request has no form");
      return form.plan(received);
    }
    const asked = decodeBody(received);
    return { work: plan(translation === undefined ? asked : translation.request(asked)), asked };
  }

  async run(running: RunningWork, plan: PlannedRequest<Result>): Promise<PaidAnswer> {
    const { work } = running;
    let result: Result;
    try {
      result = await plan.work.run({
        workId: running.id,
        principal: this.#request.principal,
        names: work.order,
        headers: this.#request.headers,
        signal: running.watchdog.abort.signal,
        cover: (usage) => work.cover(usage),
      });
    } catch (thrown) {
      if (thrown instanceof ChargedFailure) {
        const { status, usage } = thrown;
        await running.end({ status, outcome: "failed", observed: { usage }, error: thrown });
      }
      if (!(thrown instanceof EngineRefusal)) throw thrown;
      const { body, headers } = thrown;
      const status = statusOn(this.surface, thrown.status);
      await running.end({ status, outcome: "failed" });
      return { status, headers: { ...headers, "x-tollgate-credits": "0" }, body };
    }
    const { usage, spent, relayed } = result;
    const observed = { usage };
    const credits = creditsNumber(work.costOf(observed) + spent);
    const body =
      relayed === undefined
        ? encoded(this.#inVersion(this.#steps.answer(result, credits, plan.asked), plan.asked))
        : this.#relayedInVersion(relayed, plan.asked);
    const answer = { status: 200, headers: { "content-type": "application/json", ...work.rateHeaders }, body };
    work.firstByte();
    await running.answer(answer, observed, { others: spent });
    await result.delivered?.();
    return answer;
  }

  #inVersion(answer: JsonObject, asked: JsonObject): JsonObject {
    return this.#steps.translation?.answer(answer, asked) ?? answer;
  }

  #relayedInVersion(relayed: Uint8Array, asked: JsonObject): Uint8Array {
    if (this.#steps.translation === undefined) return relayed;
    const answer = parseObject(Buffer.from(relayed).toString());
    return answer === undefined ? relayed : encoded(this.#inVersion(answer, asked));
  }
}

function encoded(answer: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(answer));
}
