import { createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { dayName, formatCredits } from "../core/index.ts";
import type { ExportedEntry } from "./books.ts";
import type { LedgerStore } from "./store.ts";

/**
 * Entries of the last two days stay: within a day, the repetition of a commit whose answer was lost, or a job, may still
 * look for the entry that ended its hold.
 */
const KEPT_MS_MIN = 2 * 86_400_000;

/** Books that cannot be sealed, exported or removed; the message is one line for the operator. */
export class BooksError extends Error {
  override name = "BooksError";
}

/** Entries that are converted at once: a gateway may export while it takes calls. */
const CONVERTED_ENTRIES = 200;

/** The part of a store that retention needs. */
export type RetentionStore = Pick<LedgerStore, "books" | "calendar" | "openHolds">;

const iso = (at: number): string => new Date(at).toISOString();

/** The result of sealing the books. */
export interface Sealed {
  before: number;
  accounts: number;
  /** All sealed entries, earlier seals included. */
  entries: number;
}

/**
 * Seals all entries before the beginning of a day. Throws a `BooksError` if the day is too late, if a hold from before
 * is still open, or if the books do not balance. It may be interrupted at any time and repeated.
 */
export async function sealBooks(store: RetentionStore, day: number, now: number): Promise<Sealed> {
  const before = store.calendar.startOfDay(day);
  const { sealedBefore } = await store.books.state();
  if (before <= sealedBefore) throw new BooksError(`the books are already sealed before ${iso(sealedBefore)}`);
  if (before > now - KEPT_MS_MIN) throw new BooksError(`${dayName(day)} is too late: the last two days stay open`);
  const left = (await store.openHolds()).find((hold) => hold.createdAt < before);
  if (left !== undefined) {
    throw new BooksError(
      `hold ${left.id} of ${iso(left.createdAt)} is still open ("tollgate ledger holds"); seal an earlier date`,
    );
  }
  // From here on the entries before the date stay the same, so that they can be summed without stopping anybody.
  await store.books.close(before);
  const { drifts } = await store.books.audit();
  if (drifts.length > 0)
    throw new BooksError(`the books do not balance ("tollgate ledger audit"), so they are not sealed`);
  const openings = await store.books.openingsBefore(before);
  if (!(await store.books.seal(openings))) throw new BooksError("another process has sealed the books meanwhile");
  return { before, accounts: openings.openings.length, entries: openings.entries };
}

/** Throws a `BooksError` if there are unsealed entries before the day. Returns its beginning. */
async function requireSeal(store: RetentionStore, day: number): Promise<{ before: number; removedBefore: number }> {
  const before = store.calendar.startOfDay(day);
  const { sealedBefore, removedBefore } = await store.books.state();
  if (before > sealedBefore) {
    const last = sealedBefore === 0 ? "not sealed" : `sealed only before ${iso(sealedBefore)}`;
    throw new BooksError(`the books are ${last}: first run "tollgate ledger seal --before ${dayName(day)}"`);
  }
  return { before, removedBefore };
}

/**
 * Removes sealed entries before a day while gateways run. Returns their number. It may be interrupted and repeated; the signal ends
 * it after a transaction.
 */
export async function removeEntries(store: RetentionStore, day: number, signal?: AbortSignal): Promise<number> {
  const { before } = await requireSeal(store, day);
  await store.books.allowRemoval(before);
  let removed = 0;
  for await (const batch of store.books.removals()) {
    removed += batch;
    signal?.throwIfAborted();
  }
  return removed;
}

/** The result of an export. */
export interface Exported {
  from: number;
  before: number;
  entries: number;
}

interface ExportOptions {
  day: number;
  file: string;
  now: number;
  /** The name of the file while it is written; by default the file's own and `.part`. */
  part?: string;
  signal?: AbortSignal;
}

/**
 * Writes sealed entries before a day to a file: JSON lines, compressed with gzip. The first line describes the export,
 * the last one contains the number of entries. The file gets its name when it is complete, and has it on the disk when this
 * resolves. Throws a `BooksError` if entries were removed meanwhile.
 */
export async function exportBooks(
  store: RetentionStore,
  { day, file, now, part = `${file}.part`, signal }: ExportOptions,
): Promise<Exported> {
  const { before, removedBefore: from } = await requireSeal(store, day);
  if (before <= from) throw new BooksError(`entries before ${iso(from)} have been removed`);
  const counted = { entries: 0 };
  const head = { object: "ledger_export", version: 1, from: iso(from), before: iso(before), exported_at: iso(now) };
  try {
    const lines = exportLines(store, { from, before, head, counted });
    await pipeline(Readable.from(lines), createGzip(), createWriteStream(part, { mode: 0o600 }), { signal });
    if ((await store.books.state()).removedBefore !== from)
      throw new BooksError("entries were removed during the export; nothing was exported");
    await sync(part, "r+");
    await rename(part, file);
    await sync(dirname(file), "r");
  } catch (reason) {
    await rm(part, { force: true });
    throw reason;
  }
  return { from, before, entries: counted.entries };
}

interface ExportLines {
  from: number;
  before: number;
  head: object;
  counted: { entries: number };
}

async function* exportLines(
  { books, calendar }: RetentionStore,
  { from, before, head, counted }: ExportLines,
): AsyncIterable<string> {
  yield `${JSON.stringify({ ...head, timezone: calendar.zone })}\n`;
  for await (const page of books.pages(from, before)) {
    counted.entries += page.length;
    for (let at = 0; at < page.length; at += CONVERTED_ENTRIES) {
      const some = page.slice(at, at + CONVERTED_ENTRIES);
      yield some.map((entry) => `${JSON.stringify(entryJson(entry))}\n`).join("");
      await setImmediate();
    }
  }
  yield `${JSON.stringify({ object: "end", entries: counted.entries })}\n`;
}

function entryJson({ call, correctsAt, actor, reason, ...entry }: ExportedEntry) {
  return {
    object: "entry",
    id: entry.id,
    kind: entry.kind,
    debit_account: entry.debitAccount,
    credit_account: entry.creditAccount,
    amount: formatCredits(entry.amount),
    held: formatCredits(entry.held),
    shortfall: formatCredits(entry.shortfall),
    created_at: iso(entry.createdAt),
    ...(correctsAt !== undefined && { corrects_at: iso(correctsAt) }),
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason }),
    ...(call !== undefined && { call: callJson(call) }),
  };
}

function callJson(call: NonNullable<ExportedEntry["call"]>) {
  return {
    owner: call.owner,
    operation: call.operation,
    dialect: call.dialect ?? null,
    provider: call.provider,
    model: call.model,
    streamed: call.streamed,
    status: call.status,
    outcome: call.outcome,
    usage: JSON.parse(call.usage) as object,
    input_tokens: call.inputTokens,
    output_tokens: call.outputTokens,
    credits: formatCredits(call.credits),
    list_credits: call.listCredits === undefined ? null : formatCredits(call.listCredits),
    latency_ms: call.milliseconds,
    time_to_first_token_ms: call.millisecondsToFirstByte ?? null,
    started_at: iso(call.startedAt),
    parent_id: call.parent ?? null,
    session: call.session ?? null,
    ...(call.route !== undefined && { route: call.route }),
    ...(call.upstreamRequestId !== undefined && { upstream_request_id: call.upstreamRequestId }),
    ...(call.attempts !== undefined && { attempts: JSON.parse(call.attempts) as object }),
    ...(call.clientRequestId !== undefined && { client_request_id: call.clientRequestId }),
    ...(call.endUser !== undefined && { end_user: call.endUser }),
    ...(call.tags !== undefined && { tags: JSON.parse(call.tags) as object }),
    ...(call.errorCode !== undefined && { error_code: call.errorCode }),
  };
}

/** A rename may reach the disk before the file's bytes do, and is there only once its folder is. */
async function sync(path: string, flags: "r" | "r+"): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
