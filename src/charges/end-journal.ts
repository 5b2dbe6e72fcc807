/**
 * The local journal of ends that the store has not accepted. An answer is complete for its client only after its charge is
 * durable: in the store, or here. The ends that a killed process has left are submitted to the store by the next process that
 * starts on the same directory, and since every end is idempotent by its id, it counts once.
 */
import { z } from "zod";
import type { CallRecord, Release, Settle } from "../ledger/index.ts";
import { type JournalEntry, JournalFile } from "../storage/index.ts";

type End = Settle | Release;

/** A change that waits for the transaction of its turn of the event loop. */
interface Waiting<Change> {
  change: Change;
  resolve: () => void;
  reject: (reason: unknown) => void;
}

export class EndJournal {
  readonly #directory: string;
  /** Created by the first write: without an outage there is no file. */
  #own: JournalFile | undefined;
  /** The file of each end that is written. */
  readonly #files = new Map<string, JournalFile>();
  #writes: Waiting<JournalEntry>[] = [];
  /** Ids. */
  #removals: Waiting<string>[] = [];

  /** Nothing is created before the first write. The directory must belong to one storage. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The ends that wait here for the store. */
  get size(): number {
    return this.#files.size;
  }

  /** Whether the end is durable here. */
  has(id: string): boolean {
    return this.#files.has(id);
  }

  /** Durable when it resolves; the ends of one turn of the event loop are flushed together. Rejects if the disk refuses. */
  write(end: End): Promise<void> {
    return this.#wait(this.#writes, { id: end.id, content: toText(end) });
  }

  /**
   * Forgets an end that the store has accepted, together with others of the same turn. Rejects if the disk refuses: then
   * a later start submits the end again, without effect.
   */
  remove(id: string): Promise<void> {
    return this.#files.has(id) ? this.#wait(this.#removals, id) : Promise.resolve();
  }

  #wait<Change>(list: Waiting<Change>[], change: Change): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (list.push({ change, resolve, reject }) === 1) setImmediate(() => this.#flush());
    return promise;
  }

  #flush(): void {
    const [writes, removals] = [this.#writes, this.#removals];
    this.#writes = [];
    this.#removals = [];
    together(writes, (entries) => this.#put(entries));
    together(removals, (ids) => this.#drop(ids));
  }

  #put(entries: readonly JournalEntry[]): void {
    this.#own ??= JournalFile.create(this.#directory);
    this.#own.put(entries);
    for (const { id } of entries) this.#files.set(id, this.#own);
  }

  #drop(ids: readonly string[]): void {
    const changed = Map.groupBy(ids, (id) => this.#files.get(id));
    for (const [file, own] of changed) file?.remove(own);
    for (const id of ids) this.#files.delete(id);
    const used = new Set(this.#files.values());
    for (const file of changed.keys()) {
      if (file === undefined || used.has(file)) continue;
      file.close();
      if (file === this.#own) this.#own = undefined;
    }
  }

  /** The ends that processes which have ended have left, in the order in which each wrote them. */
  takeOver(): End[] {
    const ends: End[] = [];
    for (const file of JournalFile.takeOver(this.#directory)) {
      const entries = file.entries();
      for (const { id, content } of entries) {
        this.#files.set(id, file);
        ends.push(writtenEnd.parse(JSON.parse(content)));
      }
      if (entries.length === 0) file.close();
    }
    return ends;
  }

  /** Releases the files; those with entries are left to the next process. */
  close(): void {
    this.#flush();
    for (const file of new Set([...this.#files.values(), ...(this.#own === undefined ? [] : [this.#own])]))
      file.close();
    this.#files.clear();
    this.#own = undefined;
  }
}

/** Makes several changes in one transaction, and settles their promises. */
function together<Change>(waiting: readonly Waiting<Change>[], work: (changes: Change[]) => void): void {
  if (waiting.length === 0) return;
  try {
    work(waiting.map(({ change }) => change));
    for (const { resolve } of waiting) resolve();
  } catch (cause) {
    for (const { reject } of waiting) reject(cause);
  }
}

/** JSON, with amounts as digits and bodies in base64. */
function toText(end: End): string {
  if (end.kind === "release") return JSON.stringify(end);
  const { answer } = end;
  const written = answer && { ...answer, body: Buffer.from(answer.body).toString("base64") };
  return JSON.stringify({ ...end, amount: end.amount.toString(), answer: written });
}

/** An end as `toText` writes it. Nobody else writes these files, so that a record is taken as it is. */
const common = { id: z.string(), at: z.number(), record: z.custom<CallRecord>().exactOptional() };
const writtenEnd = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("release"), ...common }),
  z.object({
    kind: z.literal("settle"),
    ...common,
    amount: z.string().transform(BigInt),
    tokens: z.number().exactOptional(),
    answer: z
      .object({
        status: z.number(),
        headers: z.array(z.tuple([z.string(), z.string()])),
        body: z.string().transform((body) => Buffer.from(body, "base64")),
      })
      .exactOptional(),
    answerUntil: z.number().exactOptional(),
  }),
]);
