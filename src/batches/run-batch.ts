/**
 * A run of a batch, in a job of its own:
 *
 *   validating ──checked──▶ in_progress ──lines called──▶ finalizing ──▶ completed | expired
 *       └──errors──▶ failed      └──cancelling──▶ cancelled
 *
 * Lines that their provider runs as batches of its own come first (`NativeLines`), then all others are called.
 *
 * A run that stops, or whose process dies, is followed by another one, on any node; it calls the lines that have no result.
 */
import { absentCaller, type Principal } from "../auth/index.ts";
import { isOutsideFault } from "../core/index.ts";
import { type JobHandler, type JobResult, leaseToken } from "../jobs/index.ts";
import { BatchLines } from "./batch-lines.ts";
import { checkInput } from "./files/check-input.ts";
import { type BatchDependencies } from "./dependencies.ts";
import { NativeLines } from "./native/native-lines.ts";
import { nativeProviderOf } from "./native/native-provider.ts";
import { notifyEnd } from "./notify-end.ts";
import type { BatchEnd, KeptFile, StoredBatch } from "./store.ts";

/** Failures in a row; with the longest back-off, days. The batch expires before. */
const ATTEMPTS_MAX = 100_000;

/** A run ends by itself before, unless lines take hours. */
const RUN_MS_MAX = 6 * 3_600_000;

/** Batches that one process runs at the same time; their lines share its places. */
const RUNS_MAX = 32;

export function batchHandler(deps: BatchDependencies): JobHandler {
  return {
    run: ({ id, payload }, { signal }) => runBatch(deps, id, { lost: Number(payload["lost"] ?? 0), signal }),
    async onExhausted({ id }) {
      const batch = await deps.batches.take(id, leaseToken(deps.environment.randomBytes));
      if (batch !== undefined && batch.endedAt === undefined) await end(deps, batch, { status: "expired" });
    },
    attemptsMax: ATTEMPTS_MAX,
    runMsMax: RUN_MS_MAX,
    concurrencyMax: RUNS_MAX,
  };
}

async function runBatch(
  deps: BatchDependencies,
  id: string,
  { lost, signal }: { lost: number; signal: AbortSignal },
): Promise<JobResult> {
  const batch = await deps.batches.take(id, leaseToken(deps.environment.randomBytes));
  if (batch === undefined) return { done: true };
  if (batch.endedAt !== undefined) {
    await notifyEnd(deps, batch);
    return { done: true };
  }
  const file = await deps.files.find(batch.inputFileId, 0);
  if (batch.startedAt === undefined && !(await begin(deps, { batch, file, signal }))) return { done: true };
  if (file === undefined) {
    await end(deps, batch, { status: "failed", errors: [lostInput] });
    return { done: true };
  }
  const started = await deps.batches.look(batch);
  if (started === undefined) throw new Error("another run has the batch");
  const native = await new NativeLines(deps, { batch: started, file, signal, lost }).run();
  if (native.kind === "again") return { again: { lost: native.lost }, afterMs: native.afterMs };
  // With the results that it has by now.
  const rest = native.kind === "here" ? await deps.batches.look(batch) : undefined;
  if (rest === undefined) throw signal.reason ?? new Error("another run has the batch");
  const leave = deps.turns.join(batch.owner);
  const ended = await new BatchLines(deps, { batch: rest, file, signal }).run().finally(leave);
  if (ended === "paused") return { again: {}, afterMs: 0 };
  if (ended === "stopped") throw signal.reason ?? new Error("another run has the batch");
  if (await deps.batches.finalize(batch, deps.environment.clock())) await end(deps, batch, { status: ended });
  return { done: true };
}

const lostInput = { code: "invalid_file", message: "The input file was deleted.", param: null, line: null };

/** Checks the input. Resolves with whether the lines are to be called. */
async function begin(
  deps: BatchDependencies,
  { batch, file, signal }: { batch: StoredBatch; file: KeptFile | undefined; signal: AbortSignal },
): Promise<boolean> {
  const { batches, files, tokens, environment, endpoints, bounds } = deps;
  let principal: Principal;
  try {
    principal = await absentCaller(tokens, batch.tokenId, environment.clock());
  } catch (refusal) {
    if (!isOutsideFault(refusal)) throw refusal;
    const { code, message } = refusal;
    await end(deps, batch, { status: "failed", errors: [{ code, message, param: null, line: null }] });
    return false;
  }
  // A model of Messages that is none becomes its own line's result, as at Anthropic.
  const isStrict = batch.kind === "calls";
  const resolve = (model: string): void => {
    if (isStrict) endpoints.get(batch.endpoint)?.resolve(model, principal);
  };
  const checked = await checkInput({ files, bounds, resolve, signal }, file, batch);
  if ("errors" in checked) {
    await end(deps, batch, { status: "failed", errors: checked.errors });
    return false;
  }
  const { total, model, models } = checked;
  const nativeProvider = nativeProviderOf(endpoints.get(batch.endpoint), batch, { models, principal });
  return batches.start(batch, { total, model, nativeProvider, at: environment.clock() });
}

async function end(
  deps: BatchDependencies,
  batch: StoredBatch,
  { status, errors }: Pick<BatchEnd, "status" | "errors">,
): Promise<void> {
  const endedAt = deps.environment.clock();
  const keptUntil = endedAt + deps.bounds.keepMs;
  if (!(await deps.batches.finish(batch, { status, errors, endedAt, keptUntil }))) return;
  const ended = await deps.batches.find(batch.id, endedAt);
  if (ended === undefined) return;
  const { id, owner, total, succeeded, failed } = ended;
  deps.logger.info({ batch: id, user: owner, status, lines: total, succeeded, failed }, "batch ended");
  await notifyEnd(deps, ended);
}
