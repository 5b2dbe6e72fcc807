/** Whether a batch's lines can go to batches of a provider. */
import type { Principal } from "../../auth/index.ts";
import { GatewayError } from "../../core/index.ts";
import type { BatchEndpoint } from "../dependencies.ts";
import type { StoredBatch } from "../store.ts";
import type { BatchProvider } from "./upstream-batches.ts";

/** Providers take a day for a batch: one that ends earlier is run by the gateway. */
const DAY_MS = 24 * 3_600_000;

/** The header with other models for each line, which no provider's batch has. */
const FALLBACK_HEADER = "x-tollgate-fallback";

/** The prefix of the one provider of all models; undefined unless its own batches take all of them. */
export function nativeProviderOf(
  endpoint: BatchEndpoint | undefined,
  { headers, createdAt, expiresAt }: Pick<StoredBatch, "headers" | "createdAt" | "expiresAt">,
  { models, principal }: { models: readonly string[]; principal: Principal },
): string | undefined {
  const isShort = expiresAt - createdAt < DAY_MS;
  if (endpoint === undefined || isShort || headers[FALLBACK_HEADER] !== undefined || hasCallLimit(principal)) {
    return undefined;
  }
  let first: BatchProvider | undefined;
  for (const model of models) {
    const provider = batchedBy(endpoint, model, principal);
    if (provider === undefined || (first !== undefined && first.route.prefix !== provider.route.prefix))
      return undefined;
    first = provider;
  }
  return first?.api.needsOneModel === true && models.length > 1 ? undefined : first?.route.prefix;
}

/** Lines at a provider are open calls for hours: a caller with a limit of open calls could make no other call meanwhile. */
function hasCallLimit({ rates, ratesAbove = [] }: Principal): boolean {
  return [rates, ...ratesAbove].some((limits) => limits?.concurrentCalls !== undefined);
}

/** A model that is none, which only a batch of Messages may name, is left to its line's call. */
function batchedBy(endpoint: BatchEndpoint, model: string, principal: Principal): BatchProvider | undefined {
  try {
    return endpoint.batchedBy(model, principal);
  } catch (reason) {
    if (reason instanceof GatewayError) return undefined;
    throw reason;
  }
}
