import { z } from "zod";
import { objectOf } from "../../core/index.ts";
import { hurryJob, insertJob, type NewJob } from "../../jobs/index.ts";
import {
  column,
  firstOf,
  inOneCommit,
  LOCK,
  runnerOf,
  sql,
  type SqlRunner,
  type Statement,
  type Steps,
  type Storage,
  tableOf,
} from "../../storage/index.ts";
import type {
  BatchEnd,
  BatchPage,
  DirectoryPage,
  BatchStore,
  BatchUsage,
  InputError,
  ResultPart,
  ResultWrite,
  StoredBatch,
} from "../store.ts";
import { files, hiding, removeHidden } from "./file-store.ts";

/** Batches deleted at a time. */
const DELETED_MAX = 50;

const { text, integer, flag, json, oneOf, optional } = column;

const errors = json<readonly InputError[]>(
  z.array(
    z.object({ code: z.string(), message: z.string(), param: z.string().nullable(), line: z.number().nullable() }),
  ),
);
const usage = json<BatchUsage>(
  z.object({ input: z.number(), cached: z.number(), output: z.number(), reasoning: z.number() }),
);
const statuses = oneOf({
  validating: true,
  failed: true,
  in_progress: true,
  finalizing: true,
  completed: true,
  expired: true,
  cancelling: true,
  cancelled: true,
});

const batches = tableOf<StoredBatch>({
  id: text,
  owner: text,
  tokenId: text,
  kind: oneOf({ calls: true, messages: true }),
  endpoint: text,
  inputFileId: text,
  outputFileId: text,
  errorFileId: text,
  headers: json<Readonly<Record<string, string>>>(z.record(z.string(), z.string())),
  metadata: optional(json({ parse: (value) => objectOf(value) ?? {} })),
  errors: optional(errors),
  usage,
  completionWindow: text,
  webhookUrl: optional(text),
  model: optional(text),
  status: statuses,
  nativeProvider: optional(text),
  nativeNext: integer,
  runToken: text,
  total: integer,
  succeeded: integer,
  failed: integer,
  cancelled: integer,
  expired: integer,
  createdAt: integer,
  startedAt: optional(integer),
  cancellingAt: optional(integer),
  finalizingAt: optional(integer),
  endedAt: optional(integer),
  expiresAt: integer,
  keptUntil: integer,
});

const lines = tableOf<{ lines: readonly number[] }>({ lines: json<readonly number[]>(z.array(z.number())) });
const partCounts = tableOf<{ parts: number }>({ parts: integer });

type Running = Pick<StoredBatch, "id" | "runToken">;

/** A run that has lost its batch changes nothing. */
export const isRunOf = ({ id, runToken }: Running): Statement =>
  sql`id = ${id} AND run_token = ${runToken} AND ended_at IS NULL`;

class SqlBatchStore implements BatchStore {
  readonly #storage: Storage;
  readonly #sql: SqlRunner;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#sql = runnerOf(storage);
  }

  insert(batch: StoredBatch, job: NewJob, openMax: number): ReturnType<BatchStore["insert"]> {
    return inOneCommit(this.#storage, () => insertSteps(batch, job, openMax));
  }

  find(id: string, at: number): Promise<StoredBatch | undefined> {
    return this.#sql.first(
      sql`SELECT ${batches.names} FROM batches WHERE id = ${id} AND kept_until > ${at}`,
      batches.read,
    );
  }

  async list({ owner, kind, after, before, limit }: BatchPage, at: number): Promise<StoredBatch[]> {
    const listed = sql`SELECT ${batches.names} FROM batches
      WHERE owner = ${owner} AND kind = ${kind} AND kept_until > ${at}`;
    if (before !== undefined) {
      const newer = await this.#sql.rows(
        sql`${listed} AND (created_at, id) > (${before.createdAt}, ${before.id}) ORDER BY created_at, id LIMIT ${limit}`,
        batches.read,
      );
      return newer.toReversed();
    }
    const { createdAt, id } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, id: "" };
    return this.#sql.rows(
      sql`${listed} AND (created_at, id) < (${createdAt}, ${id}) ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
      batches.read,
    );
  }

  all({ owner, after, isNewestFirst, limit }: DirectoryPage): Promise<StoredBatch[]> {
    const ofOwner = sql`SELECT ${batches.names} FROM batches WHERE (CAST(${owner} AS text) IS NULL OR owner = ${owner})`;
    const page = isNewestFirst
      ? sql`${ofOwner} AND (CAST(${after} AS text) IS NULL OR id < ${after}) ORDER BY id DESC LIMIT ${limit}`
      : sql`${ofOwner} AND id > ${after ?? ""} ORDER BY id LIMIT ${limit}`;
    return this.#sql.rows(page, batches.read);
  }

  take(id: string, runToken: string): Promise<StoredBatch | undefined> {
    return this.#sql.first(
      sql`UPDATE batches SET run_token = ${runToken} WHERE id = ${id} RETURNING ${batches.names}`,
      batches.read,
    );
  }

  look(running: Running): Promise<StoredBatch | undefined> {
    return this.#sql.first(sql`SELECT ${batches.names} FROM batches WHERE ${isRunOf(running)}`, batches.read);
  }

  start(
    running: Running,
    {
      total,
      model,
      nativeProvider,
      at,
    }: { total: number; model: string | undefined; nativeProvider: string | undefined; at: number },
  ): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE batches SET total = ${total}, model = ${model}, started_at = ${at},
      native_provider = ${nativeProvider},
      status = CASE WHEN status = 'validating' THEN 'in_progress' ELSE status END
      WHERE ${isRunOf(running)} RETURNING id`);
  }

  write(batch: Running, results: ResultWrite): Promise<boolean> {
    return inOneCommit(this.#storage, () => writeSteps(batch, results));
  }

  ended(batch: Pick<StoredBatch, "id" | "outputFileId" | "errorFileId">): Promise<number[]> {
    return inOneCommit(this.#storage, () => endedSteps(batch));
  }

  cancel(id: string, at: number): Promise<boolean> {
    return inOneCommit(this.#storage, () => cancelSteps(id, at));
  }

  finalize(running: Running, at: number): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE batches SET finalizing_at = coalesce(finalizing_at, ${at}),
      status = CASE WHEN status = 'in_progress' THEN 'finalizing' ELSE status END
      WHERE ${isRunOf(running)} RETURNING id`);
  }

  finish(batch: StoredBatch, end: BatchEnd): Promise<boolean> {
    return inOneCommit(this.#storage, () => finishSteps(batch, end));
  }

  async remove(batch: StoredBatch): Promise<void> {
    const own = ownFilesOf(batch);
    await inOneCommit(this.#storage, () => removeSteps(batch, own));
    for (const id of own) await removeHidden(this.#sql, id);
  }

  async deleteExpired(at: number): Promise<void> {
    const expired = await this.#sql.rows(
      sql`SELECT ${batches.names} FROM batches
        WHERE kept_until <= ${at} AND ended_at IS NOT NULL ORDER BY kept_until LIMIT ${DELETED_MAX}`,
      batches.read,
    );
    for (const batch of expired) await this.remove(batch);
  }
}

/** Cancels a batch, and has its job run at once. Returns false for one that has ended or begins to. */
export function* cancelSteps(id: string, at: number): Steps<boolean> {
  const cancelled = yield sql`UPDATE batches SET status = 'cancelling', cancelling_at = ${at}
    WHERE id = ${id} AND ended_at IS NULL AND status IN ('validating', 'in_progress') RETURNING id`;
  if (cancelled.length === 0) return false;
  yield hurryJob(id, at);
  return true;
}

/** With the files of its results, which nobody sees before its end. Its input is kept until it expires, or longer. */
function* insertSteps(batch: StoredBatch, job: NewJob, openMax: number): Steps<"stored" | "too many" | "no input"> {
  const { id, owner, outputFileId, errorFileId, createdAt, keptUntil } = batch;
  const open = yield sql`SELECT id FROM batches WHERE owner = ${owner} AND ended_at IS NULL LIMIT ${openMax}`;
  if (open.length >= openMax) return "too many";
  // A deletion of the file at the same moment waits for this commit, and then finds the batch.
  const input =
    yield sql`SELECT id FROM batch_files WHERE id = ${batch.inputFileId} AND kept_until > ${createdAt} ${LOCK}`;
  if (input.length === 0) return "no input";
  const file = { owner, purpose: "batch_output" as const, bytes: 0, parts: 0, isListed: false, createdAt, keptUntil };
  const results = [
    { ...file, id: outputFileId, filename: `${id}_output.jsonl` },
    { ...file, id: errorFileId, filename: `${id}_error.jsonl` },
  ];
  for (const each of results) yield sql`INSERT INTO batch_files (${files.names}) VALUES (${files.values(each)})`;
  yield sql`UPDATE batch_files SET kept_until = ${batch.expiresAt}
    WHERE id = ${batch.inputFileId} AND kept_until > ${createdAt} AND kept_until < ${batch.expiresAt}`;
  yield sql`INSERT INTO batches (${batches.names}) VALUES (${batches.values(batch)})`;
  yield insertJob(job);
  return "stored";
}

/** The row of the batch is locked first: of two runs, the one that has lost it writes nothing. */
function* writeSteps(batch: Running, { parts, counts, usage: used }: ResultWrite): Steps<boolean> {
  const isOwn = yield sql`UPDATE batches SET succeeded = succeeded + ${counts.succeeded},
    failed = failed + ${counts.failed}, cancelled = cancelled + ${counts.cancelled},
    expired = expired + ${counts.expired}, usage = ${usage.write(used)}
    WHERE ${isRunOf(batch)} RETURNING id`;
  if (isOwn.length === 0) return false;
  for (const part of parts) yield* appendSteps(part);
  return true;
}

/** Waits for a write that is about to be committed, such as one whose connection was lost. */
function* endedSteps({
  id,
  outputFileId,
  errorFileId,
}: Pick<StoredBatch, "id" | "outputFileId" | "errorFileId">): Steps<number[]> {
  yield sql`SELECT id FROM batches WHERE id = ${id} ${LOCK}`;
  const parts = yield sql`SELECT lines FROM batch_file_parts
    WHERE file_id IN (${outputFileId}, ${errorFileId}) AND lines IS NOT NULL`;
  return parts.flatMap((part) => [...lines.read(part).lines]);
}

function* appendSteps({ fileId, content, lines: positions }: ResultPart): Steps<void> {
  const file = yield* firstOf(
    sql`UPDATE batch_files SET parts = parts + 1, bytes = bytes + ${content.byteLength}
      WHERE id = ${fileId} RETURNING parts`,
    partCounts.read,
  );
  if (file === undefined) throw new Error("a batch has no file for its results");
  yield sql`INSERT INTO batch_file_parts (file_id, number, content, lines)
    VALUES (${fileId}, ${file.parts - 1}, ${content}, ${JSON.stringify(positions)})`;
}

function* finishSteps(batch: StoredBatch, { status, errors: found, endedAt, keptUntil }: BatchEnd): Steps<boolean> {
  const isOwn = yield sql`UPDATE batches SET status = ${status}, ended_at = ${endedAt}, kept_until = ${keptUntil},
    errors = ${found === undefined ? undefined : errors.write(found)} WHERE ${isRunOf(batch)} RETURNING id`;
  if (isOwn.length === 0) return false;
  const isListed = flag.write(batch.kind === "calls");
  for (const fileId of [batch.outputFileId, batch.errorFileId]) {
    yield sql`UPDATE batch_files SET is_listed = ${isListed}, kept_until = ${keptUntil}
      WHERE id = ${fileId} AND bytes > 0`;
    yield sql`DELETE FROM batch_files WHERE id = ${fileId} AND bytes = 0`;
  }
  return true;
}

/** The files of OpenAI's batches are their owner's; those of a batch of Messages are parts of it. */
function ownFilesOf({ kind, inputFileId, outputFileId, errorFileId }: StoredBatch): readonly string[] {
  return kind === "messages" ? [inputFileId, outputFileId, errorFileId] : [];
}

function* removeSteps({ id }: StoredBatch, own: readonly string[]): Steps<void> {
  for (const file of own) yield hiding(file);
  yield sql`DELETE FROM batches WHERE id = ${id}`;
}

export function openBatchStore(storage: Storage): BatchStore {
  return new SqlBatchStore(storage);
}
