import { type JsonObject, objectOf } from "../../../core/index.ts";
import {
  column,
  runnerOf,
  sql,
  type SqlRunner,
  type Statement,
  type Storage,
  tableOf,
} from "../../../storage/index.ts";
import type { BackgroundEnd, BackgroundKey, BackgroundResponse, BackgroundStore, EventBatch } from "../store.ts";

/** Records deleted at a time. */
const DELETED_MAX = 1_000;

/** Batches of events read at a time. */
const BATCHES_MAX = 64;

const { text, integer, json, named, optional } = column;

const response = json<JsonObject>({ parse: (value) => objectOf(value) ?? {} });

const responses = tableOf({
  id: text,
  owner: text,
  workId: text,
  provider: text,
  model: text,
  previousId: optional(text),
  input: text,
  response,
  isCancelled: integer,
  createdAt: integer,
  endedAt: optional(integer),
  keptUntil: integer,
});

const batches = tableOf<EventBatch>({
  first: named("first_number", integer),
  last: named("last_number", integer),
  events: text,
});

const keys = tableOf<BackgroundKey>({ id: text, owner: text });

const states = tableOf({ isCancelled: integer, endedAt: optional(integer) });
const numbers = tableOf({ lastNumber: integer });

const isOne = ({ id, owner }: BackgroundKey): Statement => sql`id = ${id} AND owner = ${owner}`;

class SqlBackgroundStore implements BackgroundStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  insert(record: BackgroundResponse): Promise<boolean> {
    const row = { ...record, isCancelled: record.isCancelled ? 1 : 0 };
    return this.#sql.hasRows(sql`INSERT INTO background_responses (${responses.names}) VALUES (${responses.values(row)})
      ON CONFLICT (id, owner) DO NOTHING RETURNING id`);
  }

  find(key: BackgroundKey, at: number): Promise<BackgroundResponse | undefined> {
    return this.#sql.first(
      sql`SELECT ${responses.names} FROM background_responses WHERE ${isOne(key)} AND kept_until > ${at}`,
      (row) => {
        const { isCancelled, ...rest } = responses.read(row);
        return { ...rest, isCancelled: isCancelled === 1 };
      },
    );
  }

  update(key: BackgroundKey, seen: JsonObject): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE background_responses SET response = ${response.write(seen)}
      WHERE ${isOne(key)} AND ended_at IS NULL AND is_cancelled = 0 RETURNING id`);
  }

  stateOf(key: BackgroundKey): ReturnType<BackgroundStore["stateOf"]> {
    return this.#sql.first(sql`SELECT is_cancelled, ended_at FROM background_responses WHERE ${isOne(key)}`, (row) => {
      const { isCancelled, endedAt } = states.read(row);
      if (endedAt !== undefined) return "ended";
      return isCancelled === 1 ? "cancelled" : "running";
    });
  }

  append({ id, owner }: BackgroundKey, batch: EventBatch): Promise<void> {
    return this.#sql.run(sql`INSERT INTO background_events (response_id, owner, ${batches.names})
      VALUES (${id}, ${owner}, ${batches.values(batch)}) ON CONFLICT (response_id, owner, first_number) DO NOTHING`);
  }

  eventsAfter({ id, owner }: BackgroundKey, after: number): Promise<EventBatch[]> {
    return this.#sql.rows(
      sql`SELECT ${batches.names} FROM background_events
        WHERE response_id = ${id} AND owner = ${owner} AND last_number > ${after}
        ORDER BY first_number LIMIT ${BATCHES_MAX}`,
      batches.read,
    );
  }

  async lastNumber({ id, owner }: BackgroundKey): Promise<number> {
    const last = await this.#sql.first(
      sql`SELECT last_number FROM background_events WHERE response_id = ${id} AND owner = ${owner}
        ORDER BY first_number DESC LIMIT 1`,
      numbers.read,
    );
    return last?.lastNumber ?? -1;
  }

  cancel(key: BackgroundKey): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE background_responses SET is_cancelled = 1
      WHERE ${isOne(key)} AND ended_at IS NULL RETURNING id`);
  }

  finish(key: BackgroundKey, { response: last, endedAt, keptUntil }: BackgroundEnd): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE background_responses
      SET response = ${response.write(last)}, ended_at = ${endedAt}, kept_until = ${keptUntil}
      WHERE ${isOne(key)} AND ended_at IS NULL RETURNING id`);
  }

  async remove(key: BackgroundKey): Promise<void> {
    const { id, owner } = key;
    await this.#sql.run(sql`DELETE FROM background_events WHERE response_id = ${id} AND owner = ${owner}`);
    await this.#sql.run(sql`DELETE FROM background_responses WHERE ${isOne(key)}`);
  }

  /** One after the other, each with its events: another process may delete the same ones. */
  async deleteExpired(at: number): Promise<void> {
    const expired = await this.#sql.rows(
      sql`SELECT ${keys.names} FROM background_responses WHERE kept_until <= ${at}
        ORDER BY kept_until LIMIT ${DELETED_MAX}`,
      keys.read,
    );
    for (const each of expired) await this.remove(each);
  }
}

export function openBackgroundStore(storage: Storage): BackgroundStore {
  return new SqlBackgroundStore(runnerOf(storage));
}
