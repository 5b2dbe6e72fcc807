/** Lines that an earlier run called, whose results were not stored before it ended: they are paid. */
import { type Principal, toPrincipal } from "../auth/index.ts";
import type { GatewayError } from "../core/index.ts";
import type { BatchDependencies, BatchEndpoint } from "./dependencies.ts";
import type { LineResult } from "./line-result.ts";
import { type PendingLine, performLine } from "./perform-line.ts";
import type { StoredBatch } from "./store.ts";

/** The pause before a line that still runs is looked up again. */
const AGAIN_MS = 1_000;

type Dependencies = Pick<BatchDependencies, "endpoints" | "environment" | "logger" | "tokens" | "ticker">;

/**
 * The result of a line by its retry key, which is waited for if its call still runs; undefined if the key is free. Nothing is called.
 * `refusal` is the reason for that. Rejects with the signal's reason.
 */
export async function calledBefore(
  deps: Dependencies,
  batch: StoredBatch,
  {
    line,
    principal,
    refusal,
    signal,
  }: { line: PendingLine; principal: Principal; refusal: GatewayError; signal: AbortSignal },
): Promise<LineResult | undefined> {
  const endpoint = deps.endpoints.get(batch.endpoint);
  if (endpoint === undefined) return undefined;
  let isFree = false;
  const repeated: BatchEndpoint = {
    ...endpoint,
    perform: (request) =>
      endpoint.perform({ ...request, unlessRepeated: refusal }).catch((reason: unknown) => {
        isFree = reason === refusal;
        throw reason;
      }),
  };
  const asking = { ...deps, endpoints: new Map([[batch.endpoint, repeated]]) };
  for (;;) {
    const end = await performLine(asking, batch, { line, principal, client: { signal } });
    if (end.kind !== "running") return end.kind === "ended" && !isFree ? end.result : undefined;
    await deps.ticker.pause(AGAIN_MS);
    signal.throwIfAborted();
  }
}

/** The caller of a batch for this, also if its token is refused by now; undefined if that is gone. */
export async function callerBefore(
  { tokens }: Pick<Dependencies, "tokens">,
  { tokenId }: Pick<StoredBatch, "tokenId">,
): Promise<Principal | undefined> {
  const token = await tokens.findById(tokenId);
  return token && toPrincipal(token);
}
