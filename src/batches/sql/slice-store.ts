import type { ParkedWork } from "../../charges/index.ts";
import { objectOf } from "../../core/index.ts";
import {
  column,
  inOneCommit,
  LOCK,
  runnerOf,
  sql,
  type SqlRunner,
  type Steps,
  type Storage,
  tableOf,
} from "../../storage/index.ts";
import type { BatchSlice, RunOfBatch, SliceLine, SliceStore } from "../store.ts";
import { isRunOf } from "./batch-store.ts";

const { text, integer, flag, json, oneOf, optional } = column;

const slices = tableOf<BatchSlice>({
  id: text,
  batchId: text,
  state: oneOf({ filling: true, sending: true, running: true }),
  provider: text,
  model: text,
  path: text,
  keyId: optional(text),
  upstreamId: optional(text),
  isCancelled: flag,
  asks: integer,
  askAt: integer,
});

/** Written by this gateway alone, as other features' parked work is. */
const work = json<ParkedWork>({ parse: (value) => (objectOf(value) ?? {}) as unknown as ParkedWork });

const lines = tableOf<SliceLine & { batchId: string; sliceId: string }>({
  batchId: text,
  position: integer,
  sliceId: text,
  work,
});
const held = tableOf<SliceLine>({ position: integer, work });
const positions = tableOf<{ position: number }>({ position: integer });

class SqlSliceStore implements SliceStore {
  readonly #storage: Storage;
  readonly #sql: SqlRunner;

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#sql = runnerOf(storage);
  }

  of(batchId: string): Promise<BatchSlice[]> {
    return this.#sql.rows(
      sql`SELECT ${slices.names} FROM batch_slices WHERE batch_id = ${batchId} ORDER BY id`,
      slices.read,
    );
  }

  async positions(batchId: string): Promise<number[]> {
    const found = await this.#sql.rows(
      sql`SELECT position FROM batch_slice_lines WHERE batch_id = ${batchId}`,
      positions.read,
    );
    return found.map(({ position }) => position);
  }

  lines(sliceId: string, batchId: string): Promise<SliceLine[]> {
    return this.#sql.rows(
      sql`SELECT ${held.names} FROM batch_slice_lines
        WHERE batch_id = ${batchId} AND slice_id = ${sliceId} ORDER BY position`,
      held.read,
    );
  }

  hold(
    run: RunOfBatch,
    slice: BatchSlice,
    { lines: own, next }: { lines: readonly SliceLine[]; next: number },
  ): Promise<boolean> {
    return this.#write(run, function* () {
      if (own.length > 0) {
        yield sql`INSERT INTO batch_slices (${slices.names}) VALUES (${slices.values(slice)}) ON CONFLICT (id) DO NOTHING`;
      }
      for (const line of own) {
        const row = { ...line, batchId: slice.batchId, sliceId: slice.id };
        yield sql`INSERT INTO batch_slice_lines (${lines.names}) VALUES (${lines.values(row)})`;
      }
      yield sql`UPDATE batches SET native_next = ${next} WHERE id = ${slice.batchId} AND native_next < ${next}`;
    });
  }

  change(run: RunOfBatch, { id, ...slice }: BatchSlice): Promise<boolean> {
    const { state, keyId, upstreamId, isCancelled, asks, askAt } = slice;
    return this.#write(run, function* () {
      yield sql`UPDATE batch_slices SET state = ${state}, key_id = ${keyId}, upstream_id = ${upstreamId},
        is_cancelled = ${flag.write(isCancelled)}, asks = ${asks}, ask_at = ${askAt} WHERE id = ${id}`;
    });
  }

  remove(
    run: RunOfBatch,
    { id, batchId }: Pick<BatchSlice, "id" | "batchId">,
    again: number | undefined,
  ): Promise<boolean> {
    return this.#write(run, function* () {
      yield sql`DELETE FROM batch_slice_lines WHERE batch_id = ${batchId} AND slice_id = ${id}`;
      yield sql`DELETE FROM batch_slices WHERE id = ${id}`;
      if (again === undefined) return;
      yield sql`UPDATE batches SET native_next = ${again} WHERE id = ${batchId} AND native_next > ${again}`;
    });
  }

  stop(run: RunOfBatch): Promise<boolean> {
    return this.#write(run, function* () {
      yield sql`UPDATE batches SET native_provider = NULL WHERE id = ${run.id}`;
    });
  }

  #write(run: RunOfBatch, steps: () => Steps<void>): Promise<boolean> {
    return inOneCommit(this.#storage, () => ownSteps(run, steps));
  }
}

function* ownSteps(run: RunOfBatch, steps: () => Steps<void>): Steps<boolean> {
  const own = yield sql`SELECT id FROM batches WHERE ${isRunOf(run)} ${LOCK}`;
  if (own.length === 0) return false;
  yield* steps();
  return true;
}

export function openSliceStore(storage: Storage): SliceStore {
  return new SqlSliceStore(storage);
}
