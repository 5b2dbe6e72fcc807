/**
 * A call whose tools the gateway runs, as a way of paid work. The call itself costs and holds nothing: its retry key, its limits and
 * its record are those of one call, and each of its parts is work of its own.
 */
import { z } from "zod";
import { decodeBody, parseBody, type ParsedBody, type ReceivedBody } from "../bodies/index.ts";
import type { ChargeableBody, ChargeableRoute, IncomingCall } from "../calls/index.ts";
import type { PaidAnswer, Planning, RunningWork, WayOfWork, WorkPlan } from "../charges/index.ts";
import type { JsonObject, ModelOperation } from "../core/index.ts";
import { type ClientContext, type DialectTranslation, translations } from "../dialects/index.ts";
import { usageReaders } from "../providers/index.ts";
import type { Target } from "../routing/index.ts";
import type { HostedToolsOptions } from "./hosted-options.ts";
import { Loop } from "./loop.ts";
import { LoopCall } from "./loop-call.ts";
import { streamLoop, wholeLoop } from "./loop-answer.ts";
import type { HostedDialect } from "./requests/asked-tools.ts";
import { type DecidedTools, LoopRequest } from "./requests/loop-request.ts";
import { keepingOf, type KeptResponse } from "./kept-response.ts";
import type { PageFinder } from "./running/web-tools.ts";

interface LoopWayOptions<Body extends ChargeableBody> extends Omit<
  HostedToolsOptions,
  "shell" | "perform" | "pages" | "modes" | "findsWorld"
> {
  perform: (round: IncomingCall) => Promise<PaidAnswer>;
  pages: PageFinder;
  route: ChargeableRoute<Body>;
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

  async plan(received: ReceivedBody<JsonObject>, { retry }: Planning<never>): Promise<LoopPlan> {
    if (received.kind === "form") throw new Error("no text generation takes a form");
    const { incoming, target, route, price, environment, decide } = this.#options;
    const { requestId: id, principal, parent } = incoming;
    const own = decodeBody(received);
    const { body, kept } = await keepingOf({
      store: route.responseStore,
      principal,
      target,
      own,
      callId: callIdOf(id),
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
    const request = new LoopRequest(this.#dialect, body, decided);
    return { order, clientGoneGraceMs: 0, own, request, kept, headers: headersOf(decided) };
  }

  async run(running: RunningWork<LoopPlan>, plan: LoopPlan): Promise<PaidAnswer> {
    const { incoming, target, environment, deadlineMs, perform, pages } = this.#options;
    const { own, order, request } = plan;
    const abort = followingOf(running);
    const call = new LoopCall({
      incoming,
      names: order,
      chargeMax: order.chargeMax,
      signal: abort.signal,
      perform,
      pages,
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
    await loop.resume();
    const first = await loop.ask();
    const headers = { ...withoutLength(first.headers), ...running.work.rateHeaders };
    if (first.status >= 400) {
      await running.end({ status: first.status, outcome: "failed" });
      return { ...first, headers };
    }
    const context = this.#contextOf(plan, callId);
    const parts = { running, loop, call, first, context, abort, translation: this.#translation, kept: plan.kept };
    const shown = { ...parts, headers: { ...headers, ...plan.headers } };
    return own["stream"] === true ? streamLoop(shown) : wholeLoop(shown);
  }

  #contextOf({ own, order }: LoopPlan, callId: string): ClientContext {
    const inputTokensEstimate = Math.ceil(this.#options.incoming.body.length / BYTES_PER_TOKEN);
    const created = Math.floor(order.at / 1_000);
    return { request: own, callId, created, inputTokensEstimate, requestId: order.id };
  }

  /** An answer that passes through counts as its upstream does. */
  #readUsage() {
    const { operation } = this.#options.target;
    if (operation.dialect === this.#dialect) return (answer: JsonObject) => operation.readUsage(answer);
    return usageReaders[this.#dialect];
  }
}

const BYTES_PER_TOKEN = 4;

/** Unique to the call; letters and digits only. */
function callIdOf(requestId: string): string {
  return requestId.replace(/^req_/, "");
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

/** The parts of the request that nothing here can do. */
function headersOf({ run, left }: DecidedTools): Record<string, string> {
  const dropped = [...new Set(left.map(({ type }) => type))].join(", ");
  return {
    ...(dropped !== "" && { "x-tollgate-dropped-tools": dropped }),
    ...(run.some(({ hasLocation }) => hasLocation) && { "x-tollgate-changes": "searches" }),
  };
}

function withoutLength(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { "content-length": _, "content-encoding": _encoding, "x-tollgate-credits": _credits, ...rest } = headers;
  return rest;
}
