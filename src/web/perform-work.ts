/**
 * One paid request on the web:
 *
 *   body → plan (422) → hold, with limits and retry key (402 429 409) → work → settle, with the answer → answer
 *
 * A failure releases the hold. Nothing that a target answers is a failure, except that it cannot be read.
 */
import type { Principal } from "../auth/index.ts";
import { decodeBody, parseBody, type ParsedBody, readBody } from "../bodies/index.ts";
import {
  fingerprintOf,
  openWork,
  readRetryKey,
  replay,
  StoredBody,
  storedAnswerOf,
  Work,
  type WorkOrder,
} from "../charges/index.ts";
import {
  CallAborter,
  creditsNumber,
  formatCredits,
  GatewayError,
  type JsonObject,
  type Nano,
  toGatewayError,
  type WebOperation,
} from "../core/index.ts";
import { z } from "zod";
import { EngineRefusal, type WebPlan } from "./engine.ts";
import type { WebDependencies } from "./web-dependencies.ts";

/** One request of a caller. */
export interface WebCall {
  requestId: string;
  principal: Principal;
  request: Request;
}

interface Performing<Result> {
  operation: WebOperation;
  call: WebCall;
  plan: (body: JsonObject) => WebPlan<Result>;
  /** The body of the answer; `credits` is what the request has cost in total, `asked` its own body. */
  answer: (result: Result, credits: number, asked: JsonObject) => JsonObject;
  abort: CallAborter;
}

/** Any object: each plan has its own schema, and an engine may have others. */
const anyObject = z.looseObject({});

interface WebResult {
  usage: WorkUsage;
  spent: Nano;
  relayed?: Uint8Array | undefined;
}

type WorkUsage = WebPlan<unknown>["bound"];

/** Throws a `GatewayError` for a refusal or a failure. */
export async function performWork<Result extends WebResult>(
  deps: WebDependencies,
  { operation, call, plan, answer, abort }: Performing<Result>,
): Promise<Response> {
  const { principal, request } = call;
  const { headers, signal } = request;
  const memory = deps.memory.share();
  try {
    const received: ParsedBody<JsonObject> = parseBody(await readBody(request, deps.body, memory), anyObject, []);
    const key = readRetryKey(headers);
    const retry = key === undefined ? undefined : { key, fingerprint: await fingerprintOf(operation, received) };
    const asked = decodeBody(received);
    const planned = plan(asked);
    const work = await openWork(deps.work, orderOf(deps, { operation, call, bound: planned.bound, retry }));
    if (!(work instanceof Work)) {
      const replayed = replay(work.answer, work.firstId);
      return new Response(replayed.body, { status: replayed.status, headers: replayed.headers });
    }
    const leave = (): void => abort.abort(clientGone());
    // A request with a retry key goes on without its client: its answer is stored.
    if (retry === undefined) signal.addEventListener("abort", leave);
    try {
      if (retry === undefined && signal.aborted) leave();
      const context = {
        workId: work.order.id,
        principal,
        signal: abort.signal,
        cover: (usage: WorkUsage) => work.cover(usage),
      };
      const result = await planned.run(context);
      return await settle(work, result, (credits) => answer(result, credits, asked));
    } catch (thrown) {
      return await fail(work, thrown, abort);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  } finally {
    memory.free();
  }
}

interface Ordered extends Pick<Performing<unknown>, "operation" | "call"> {
  bound: WorkUsage;
  retry: WorkOrder["retry"];
}

function orderOf(deps: WebDependencies, { operation, call, bound, retry }: Ordered): WorkOrder {
  const { engineName: model, price, environment } = deps;
  return {
    id: call.requestId,
    principal: call.principal,
    operation,
    dialect: undefined,
    source: { provider: "web", model, modelId: `web/${model}` },
    price,
    bound: { inputTokens: 0, outputTokens: 0, choices: 1, inputUnits: bound },
    streamed: false,
    retry,
    at: environment.clock(),
  };
}

async function settle(work: Work, result: WebResult, answer: (credits: number) => JsonObject): Promise<Response> {
  const observed = { usage: result.usage };
  const own = work.costOf(observed);
  const total = own + result.spent;
  const body = result.relayed ?? Buffer.from(JSON.stringify(answer(creditsNumber(total))));
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-tollgate-credits": formatCredits(total),
    ...work.rateHeaders,
  };
  const kept = work.order.retry === undefined ? undefined : new StoredBody().add(body);
  const stored = kept && storedAnswerOf(200, { headers, body: kept }, "firecrawl", work.order.id);
  work.firstByte();
  const { shortfall } = await work.end({ status: 200, outcome: "complete", observed, answer: stored });
  if (shortfall > 0n) headers["x-tollgate-credits"] = formatCredits(total - shortfall);
  return new Response(body, { status: 200, headers });
}

/** Releases the hold. Resolves with an upstream's own refusal; rejects with any other error. */
async function fail(work: Work, thrown: unknown, { signal }: CallAborter): Promise<Response> {
  if (thrown instanceof EngineRefusal) {
    const { status, body, headers } = thrown;
    await work.end({ status, outcome: "failed" });
    return new Response(body, { status, headers: { ...headers, "x-tollgate-credits": "0" } });
  }
  const error = toGatewayError(thrown);
  const outcome = signal.aborted ? "abandoned" : error.fault === "gateway" ? "interrupted" : "failed";
  await work.end({ status: error.status, outcome, error });
  throw error;
}

function clientGone(): GatewayError {
  return new GatewayError("request_interrupted", "The client disconnected.");
}
