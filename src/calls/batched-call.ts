/** A call that its upstream does as a line of a batch: planned like any call, and sent and answered by the job of the batch. */
import type { BatchedCall, BatchedReply, PaidAnswer, ParkedWork, RunningWork } from "../charges/index.ts";
import type { GatewayError } from "../core/index.ts";
import { batchPrice, type ModelPrice, priceFrom } from "../pricing/index.ts";
import { heldTarget, type ModelRouter, type Target } from "../routing/index.ts";
import { type FailedReply, replyOfText, type UpstreamBody, type WholeReply } from "../sending/index.ts";
import type { CallPlan } from "./plan-call.ts";

/** The target at the price of batches, with the operation whose bodies its batches contain. */
export function batchedTarget(target: Target): Target {
  const priceOf = (model: string): ModelPrice | undefined => {
    const price = target.priceOf(model);
    return price && batchPrice(price);
  };
  return { ...withBatchedOperation(target), price: batchPrice(target.price), priceOf };
}

/**
 * The target of a held line whose answer has come: the one that it was sent to. Its caller may use another selection of models by now, and
 * pays what was agreed.
 */
export function answeredTarget(
  router: ModelRouter,
  { source, price }: ParkedWork,
  operations: Parameters<typeof heldTarget>[2]["operations"],
): Target {
  return withBatchedOperation(heldTarget(router, source, { operations, price: priceFrom(price) }));
}

function withBatchedOperation(target: Target): Target {
  const { batches, operations } = target.route.provider;
  const isText = target.operation.dialect !== undefined;
  const own = isText && batches?.textOperation !== undefined ? operations[batches.textOperation] : undefined;
  return own === undefined ? target : { ...target, operation: own };
}

/**
 * Throws `otherwise` for a plan that is no line of a batch: one of several requests or with stored objects of one key, one that goes on
 * after its answer, or one that buys tools or a tier of service, whose prices batches do not have.
 */
export function requireBatchable(plan: CallPlan, otherwise: GatewayError): void {
  const { exchange, background, pinnedKeyId, target } = plan;
  const { batches } = target.route.provider;
  const isTaken = batches?.takes(target.operation.path, target.model) === true;
  const { terms, ...bought } = exchange.extras ?? {};
  const hasBought = Object.values(bought).some((each) => each !== undefined);
  const hasTerms = Object.values(terms ?? {}).some((each) => each !== undefined);
  const isBound = background !== undefined || pinnedKeyId !== undefined || exchange.streamed;
  if (!isTaken || isBound || hasBought || hasTerms) throw otherwise;
}

/** Leaves the held call to the job of its batch. */
export async function holdForBatch(
  running: RunningWork,
  { exchange, target }: CallPlan,
  { otherwise, leave }: Extract<BatchedCall, { kind: "hold" }>,
): Promise<PaidAnswer> {
  const { outputTokens, toolRuns } = running.work.limits;
  const [request, ...others] = exchange.requests(outputTokens, toolRuns);
  const body = others.length === 0 ? textOf(request.body) : undefined;
  if (body === undefined) {
    await running.discard();
    throw otherwise;
  }
  running.freeBody();
  const { model, operation } = target;
  await leave({
    request: { model, path: operation.path, body },
    handOver: (until, save) => running.handOver(until, save),
  });
  return { status: 202, headers: {}, body: "" };
}

function textOf(body: UpstreamBody): string | undefined {
  if (typeof body === "string") return body;
  return Array.isArray(body) ? Buffer.concat(body).toString("utf8") : undefined;
}

/** The reply to a line of a batch, as its own request would get it. */
export function batchedReply({ exchange, target }: CallPlan, reply: BatchedReply): WholeReply | FailedReply {
  // Some exchanges know only then how to read the answer.
  exchange.requests();
  return replyOfText(target, reply);
}
