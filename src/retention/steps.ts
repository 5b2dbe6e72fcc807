/**
 * The removal of old entries, in steps that are each done whole:
 *
 *   seal ──▶ export ──▶ remove
 *
 * Each step plans the next one, and the job's row has that plan before the next one begins. After a crash, the process that
 * goes on exports the same days to the same file, and entries are removed only once a complete file contains them.
 */
import { hostname } from "node:os";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { dayName } from "../core/index.ts";
import { exportBooks, removeEntries, type RetentionStore, sealBooks } from "../ledger/index.ts";

const DAY_MS = 86_400_000;

/** Times in milliseconds since the epoch: midnights of the deployment's time zone. */
export type RetentionStep =
  | { step: "seal" }
  | { step: "export"; from: number; before: number }
  | { step: "remove"; before: number };

export interface RetentionSettings {
  /** How long entries are kept, and how many days one file is for, at least; in milliseconds. */
  keptMs: number;
  everyMs: number;
  /** For the files. */
  folder: string;
  now: number;
  /** Ends a step between two of its transactions. */
  signal: AbortSignal;
}

export interface StepOutcome {
  /** Undefined if nothing is left to do. */
  next: RetentionStep | undefined;
  /** For the logs; undefined if nothing was done. */
  done?: { sealedBefore: number; entries: number } | { file: string; entries: number } | { removed: number };
}

/** Does a step. Rejects with a `BooksError` if the books do not allow it. It may be interrupted and repeated. */
export function runStep(store: RetentionStore, step: RetentionStep, settings: RetentionSettings): Promise<StepOutcome> {
  if (step.step === "export") return exportDays(store, step, settings);
  if (step.step === "remove") return removeDays(store, step, settings);
  return sealDays(store, settings);
}

async function sealDays(
  store: RetentionStore,
  { keptMs, everyMs, now, signal }: RetentionSettings,
): Promise<StepOutcome> {
  const { books, calendar } = store;
  const { sealedBefore, removedBefore: from } = await books.state();
  // A removal by command was interrupted.
  if (await books.hasEntries(0, from)) await removeEntries(store, calendar.dayOf(from), signal);
  const day = calendar.dayOf(now - keptMs);
  const before = calendar.startOfDay(day);
  if ((day - calendar.dayOf(from)) * DAY_MS < everyMs) return { next: undefined };
  if (!(await books.hasEntries(from, before))) return { next: undefined };
  const next = { step: "export", from, before } as const;
  if (sealedBefore >= before) return { next };
  const { entries } = await sealBooks(store, day, now);
  return { next, done: { sealedBefore: before, entries } };
}

/** Of one file at a time there is one complete export, however often this is repeated, and on whichever node. */
async function exportDays(
  store: RetentionStore,
  { from, before }: Extract<RetentionStep, { step: "export" }>,
  { folder, now, signal }: RetentionSettings,
): Promise<StepOutcome> {
  const { removedBefore } = await store.books.state();
  // Somebody has removed entries by command meanwhile.
  if (removedBefore !== from) return { next: { step: "seal" } };
  const [day, first] = [store.calendar.dayOf(before), store.calendar.dayOf(from)];
  const name = `ledger_${dayName(first)}_${dayName(day)}.jsonl.gz`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeParts(folder, name);
  const file = join(folder, name);
  // Several nodes may share the folder, and one that was paused for long may still write when another one has taken over.
  const part = `${file}.${hostname()}-${process.pid}.part`;
  const { entries } = await exportBooks(store, { day, file, now, part, signal });
  return { next: { step: "remove", before }, done: { file, entries } };
}

/** Those of processes that have ended. */
async function removeParts(folder: string, name: string): Promise<void> {
  const parts = (await readdir(folder)).filter((each) => each.startsWith(`${name}.`) && each.endsWith(".part"));
  for (const part of parts) await rm(join(folder, part), { force: true });
}

async function removeDays(
  store: RetentionStore,
  { before }: Extract<RetentionStep, { step: "remove" }>,
  { signal }: RetentionSettings,
): Promise<StepOutcome> {
  const removed = await removeEntries(store, store.calendar.dayOf(before), signal);
  return { next: undefined, done: { removed } };
}
