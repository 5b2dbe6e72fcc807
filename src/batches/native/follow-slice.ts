/** One step of a slice that is stored: it is looked up at its provider if it is due, and its lines end with its results. */
import type { Principal } from "../../auth/index.ts";
import { isOutsideFault } from "../../core/index.ts";
import type { BatchDependencies } from "../dependencies.ts";
import type { BatchSlice, KeptFile } from "../store.ts";
import { heldUntil } from "./fill-slice.ts";
import { settleSlice } from "./settle-slice.ts";
import type { SliceBook } from "./slice-book.ts";
import type { UpstreamBatches } from "./upstream-batches.ts";

/** How often the provider is asked for a slice whose creation was not answered, before it is given up: for some minutes. */
const FINDS_MAX = 10;

/** A slice that its provider does not know any more is asked for so many times. */
const GONE_MAX = 5;

/** Holds are given back so long before they would end by themselves, and be charged. */
const GIVE_UP_MS = 6 * 3_600_000;

const NOT_FOUND = 404;

export interface SliceRun {
  file: KeptFile;
  signal: AbortSignal;
  /** The caller of the batch, also if its token has ended; undefined if that is gone. */
  principal: () => Promise<Principal | undefined>;
  /** Undefined if the provider has no batches any more. */
  upstream: UpstreamBatches | undefined;
  /** Whether no further line is to be called. */
  isEnding: boolean;
}

/** Rejects if the storage fails, or this process ends; after any other failure the slice is asked for again later. */
export async function followSlice(
  deps: BatchDependencies,
  book: SliceBook,
  slice: BatchSlice,
  run: SliceRun,
): Promise<void> {
  const { upstream, isEnding } = run;
  const { state, askAt, isCancelled } = slice;
  if (state === "filling") return book.giveBack(slice);
  if (book.now > heldUntil(book.batch) - GIVE_UP_MS) return book.forget(slice, "it was not answered in time");
  const mustCancel = isEnding && !isCancelled && state === "running";
  if (askAt > book.now && !mustCancel) return undefined;
  if (upstream === undefined) return book.askLater(slice, "the provider has no batches any more");
  try {
    if (state === "sending") return await find(book, slice, upstream);
    if (!mustCancel) return await ask(deps, book, slice, { ...run, upstream });
    const cancelled = { ...slice, isCancelled: await upstream.cancel(slice) };
    if (cancelled.isCancelled) await book.change(cancelled);
    return await ask(deps, book, cancelled, { ...run, upstream });
  } catch (reason) {
    if (!isOutsideFault(reason)) throw reason;
    return book.askLater(slice, reason.message);
  }
}

/** Looks for the provider's batch of a slice whose creation was not answered. */
async function find(book: SliceBook, slice: BatchSlice, upstream: UpstreamBatches): Promise<void> {
  const found = await upstream.find(slice);
  if (found !== undefined) {
    const { batch, keyId } = found;
    return book.change({ ...slice, state: "running", upstreamId: batch.id, keyId, asks: 0, askAt: 0 });
  }
  if (upstream.api.list === undefined || slice.asks + 1 >= FINDS_MAX) {
    return book.forget(slice, "its creation was not answered, and it cannot be found");
  }
  return book.askLater(slice, "its creation was not answered");
}

async function ask(
  deps: BatchDependencies,
  book: SliceBook,
  slice: BatchSlice,
  run: SliceRun & { upstream: UpstreamBatches },
): Promise<void> {
  const asked = await run.upstream.get(slice);
  if (asked.kind === "refused") {
    const isGone = asked.status === NOT_FOUND && slice.asks + 1 >= GONE_MAX;
    if (isGone) return book.forget(slice, "the provider knows it no more");
    return book.askLater(slice, `the provider has answered with ${asked.status}`);
  }
  const { batch, answer } = asked;
  if (batch.state === "running") return book.askLater(slice, undefined);
  if (batch.state === "refused") return book.refuse(slice, batch.reason);
  return settle(deps, book, slice, { ...run, results: run.upstream.results(answer, slice) });
}

async function settle(
  deps: BatchDependencies,
  book: SliceBook,
  slice: BatchSlice,
  {
    file,
    signal,
    principal: principalOf,
    results,
    isEnding,
  }: SliceRun & { results: ReturnType<UpstreamBatches["results"]> },
): Promise<void> {
  const principal = await principalOf();
  if (principal === undefined) return book.forget(slice, "the token of the batch is gone");
  const { unanswered, answered, missing } = await settleSlice(deps, {
    batch: book.batch,
    file,
    slice,
    principal,
    results,
    hasEnded: (position) => book.ended.has(position),
    onEnded: (result) => book.end(result),
    signal,
  });
  await book.flush();
  if (book.isLost) return undefined;
  // Of a batch that was cancelled, some providers have no results of the lines that were not called.
  if (missing > 0 && !isEnding) await book.forget(slice, `the provider has no results of ${missing} lines`);
  else await book.remove(slice, unanswered);
  // Its provider has called none of them, for whatever reason: they are not sent again.
  return answered === 0 && unanswered.length > 0 ? book.stopNative() : undefined;
}
