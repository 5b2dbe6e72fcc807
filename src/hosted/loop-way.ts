/**
 * A call whose tools the gateway runs, as a way of paid work. The call itself costs and holds nothing: its retry key, its limits and
 * its record are those of one call, and each of its parts is work of its own.
 */
import { z } from "zod";
import { decodeBody, parseBody, type ParsedBody, type ReceivedBody } from "../bodies/index.ts";
import {
  backgroundOf,
  backgroundRecord,
  type ChargeableBody,
  type ChargeableRoute,
  type IncomingCall,
  runInBackground,
} from "../calls/index.ts";
import type { PaidAnswer, Planning, RunningWork, WayOfWork, WorkPlan } from "../charges/index.ts";
import type { JsonObject, ModelOperation } from "../core/index.ts";
import { type ClientContext, type DialectTranslation, queuedResponse, translations } from "../dialects/index.ts";
import type { BackgroundResponses } from "../objects/index.ts";
import { usageReaders } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";
import type { ToolGateway } from "../tools/index.ts";
import type { HostedToolsOptions } from "./hosted-options.ts";
import { Loop } from "./loop.ts";
import { LoopCall } from "./loop-call.ts";
import { streamLoop, wholeLoop } from "./loop-answer.ts";
import type { HostedDialect } from "./requests/asked-tools.ts";
import type { LoopAnswer } from "./loop-parts.ts";
import { type DecidedTools, LoopRequest } from "./requests/loop-request.ts";
import { callIdOf, keepingOf, type KeptResponse } from "./kept-response.ts";
import type { OwnTools } from "./running/own-tools.ts";
import { headersOf, withNotices, withoutSecrets } from "./requests/shown-request.ts";
import { readyTool } from "./running/configured-tools.ts";
import { findServer } from "./running/served-tools.ts";
import type { PageFinder } from "./running/web-tools.ts";

interface LoopWayOptions<Body extends ChargeableBody> extends Pick<
  HostedToolsOptions,
  "environment" | "price" | "deadlineMs" | "results" | "logger"
> {
  perform: (round: IncomingCall) => Promise<PaidAnswer>;
  pages: PageFinder;
  servers: Pick<ToolGateway, "door" | "doorAt" | "own" | "call">;
  own: OwnTools;
  route: ChargeableRoute<Body>;
  /** Runs the answer after its request. */
  background: BackgroundResponses | undefined;
  incoming: IncomingCall & { body: Uint8Array };
  target: Target;
  decide: (dialect: HostedDialect, body: JsonObject) => DecidedTools;
}

interface LoopPlan extends WorkPlan {
  /** The client's own body. */
  own: JsonObject;
  request: LoopRequest;
  /** How its response is stored; undefined if it is not. */
  kept: KeptResponse | undefined;
  headers: Readonly<Record<string, string>>;
  /** Runs the answer after its request; undefined for one that is the request's. */
  background: BackgroundResponses | undefined;
}

const anyObject = z.looseObject({});

export class LoopWay<Body extends ChargeableBody> implements WayOfWork<JsonObject, LoopPlan> {
  readonly surface;
  readonly operation: ModelOperation;
  readonly form = undefined;
  readonly #options: LoopWayOptions<Body>;
  readonly #dialect: HostedDialect;
  readonly #translation: DialectTranslation;

  constructor(options: LoopWayOptions<Body>) {
    const { surface, operations, codec } = options.route;
    if (codec.dialect === undefined || codec.dialect === "gemini") throw new Error("this route has no hosted tools");
    this.#options = options;
    this.surface = surface;
    this.operation = operations[0];
    this.#dialect = codec.dialect;
    this.#translation = translations[codec.dialect];
  }

  parse(bytes: Uint8Array): ParsedBody<JsonObject> {
    return parseBody(bytes, anyObject, []);
  }

  async plan(received: ReceivedBody<JsonObject>, { retry, memory }: Planning<never>): Promise<LoopPlan> {
    if (received.kind === "form") throw new Error("no text generation takes a form");
    // The body itself, and that of the round under way.
    memory.add(2 * received.bytes.length);
    const { incoming, target, route, price, environment, decide, results, background: service } = this.#options;
    const { requestId: id, principal, parent } = incoming;
    const given = decodeBody(received);
    const isBackground = given["background"] === true && this.#dialect === "responses";
    const background = isBackground
      ? backgroundOf(service === undefined ? {} : { background: service }, { body: given, bytes: received.bytes })
      : undefined;
    const { own, body, kept } = await keepingOf({
      store: route.responseStore,
      principal,
      target,
      given,
      bytes: received.bytes.length,
      requestId: id,
      logger: this.#options.logger,
    });
    const decided = decide(this.#dialect, body);
    const order = {
      id,
      parent,
      principal,
      operation: this.operation,
      dialect: this.#dialect,
      source: { provider: target.route.prefix, model: target.model, modelId: target.modelId },
      price,
      bound: { inputTokens: 0, outputTokens: 0, choices: 1 },
      streamed: own["stream"] === true,
      retry,
      at: environment.clock(),
    };
    const sent = isBackground ? { ...body, stream: true } : body;
    const servers = await Promise.all(
      decided.servers.map((each) =>
        findServer(this.#options, each, { ...incoming, canAsk: this.#dialect === "responses" }),
      ),
    );
    const run = await Promise.all(decided.run.map((tool) => readyTool(this.#options, tool, incoming)));
    const request = new LoopRequest(this.#dialect, sent, {
      ...decided,
      run,
      servers,
      seal: results.of(principal.user),
      keepsNative: target.operation.dialect === this.#dialect,
    });
    const headers = headersOf({ run, left: decided.left });
    // A whole answer too has rounds and tools that are still to be begun.
    return { order, clientGoneGraceMs: 0, endsWithToken: true, own, request, kept, headers, background };
  }

  run(running: RunningWork<LoopPlan>, plan: LoopPlan): Promise<PaidAnswer> {
    const { background: service, own } = plan;
    if (service === undefined) return this.#run(running, plan, own["stream"] === true);
    const { target, incoming } = this.#options;
    const callId = callIdOf(running.id);
    const named = { request: withoutSecrets(own), callId, created: Math.floor(plan.order.at / 1_000) };
    return runInBackground(
      running,
      { target },
      {
        service,
        record: backgroundRecord({ principal: incoming.principal, target, request: own, callId }),
        queued: queuedResponse(named, target.model),
        isStreamed: own["stream"] === true,
        perform: () => this.#run(running, plan, true),
      },
    );
  }

  async #run(running: RunningWork<LoopPlan>, plan: LoopPlan, isStreamed: boolean): Promise<PaidAnswer> {
    const { incoming, target, environment, deadlineMs, perform, pages } = this.#options;
    const { order, request } = plan;
    const abort = followingOf(running);
    const call = new LoopCall({
      incoming,
      names: order,
      chargeMax: order.chargeMax,
      memory: running.memory,
      signal: abort.signal,
      perform,
      pages,
      served: this.#options,
      readUsage: this.#readUsage(),
      environment,
    });
    const callId = callIdOf(running.id);
    const loop = new Loop({
      call,
      request,
      translation: this.#translation,
      model: target.modelId,
      callId,
      deadline: order.at + deadlineMs,
      now: environment.clock,
    });
    await loop.begin();
    const first = await loop.ask();
    const headers = { ...withoutLength(first.headers), ...running.work.rateHeaders };
    if (first.status >= 400) {
      await running.end({ status: first.status, outcome: "failed" });
      return { ...first, headers };
    }
    const context = this.#contextOf(plan, callId);
    const parts = { running, loop, call, first, context, abort, translation: this.#translation, ...keptOf(plan) };
    const shown = { ...parts, headers: withNotices(headers, plan.headers) };
    return isStreamed ? streamLoop(shown) : wholeLoop(shown);
  }

  #contextOf({ own, order }: LoopPlan, callId: string): ClientContext {
    const inputTokensEstimate = Math.ceil(this.#options.incoming.body.length / BYTES_PER_TOKEN);
    const created = Math.floor(order.at / 1_000);
    return { request: withoutSecrets(own), callId, created, inputTokensEstimate, requestId: order.id };
  }

  /** An answer that passes through counts as its upstream does. */
  #readUsage() {
    const { operation } = this.#options.target;
    if (operation.dialect === this.#dialect) return (answer: JsonObject) => operation.readUsage(answer);
    return usageReaders[this.#dialect];
  }
}

const BYTES_PER_TOKEN = 4;

/** How the response of the plan is stored, and its answer for a retry key, if that is not its stream. */
function keptOf({ kept, background, own }: LoopPlan): Pick<LoopAnswer, "kept" | "answerOf"> {
  if (background === undefined) return { kept, answerOf: undefined };
  return {
    kept: kept && ((response) => kept({ ...response, background: true })),
    answerOf: (response) => background.answerOf({ ...response, background: true }, own["stream"] === true),
  };
}

/** Ends the parts of the work when it is ended. */
function followingOf({ watchdog }: RunningWork<LoopPlan>): AbortController {
  const controller = new AbortController();
  const { signal } = watchdog.abort;
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener("abort", { handleEvent: follow });
  return controller;
}

function withoutLength(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { "content-length": _, "content-encoding": _encoding, "x-tollgate-credits": _credits, ...rest } = headers;
  return rest;
}
