import { type JsonObject, listOf, objectOf } from "../../../core/index.ts";
import {
  column,
  runnerOf,
  sql,
  type SqlRunner,
  type Statement,
  type Storage,
  tableOf,
} from "../../../storage/index.ts";
import type { ConversationKey, ConversationStore, ItemBatch, StoredConversation } from "../store.ts";

/** Conversations deleted at a time. */
const DELETED_MAX = 1_000;

const { text, integer, json, optional } = column;

const metadata = json<JsonObject>({ parse: (value) => objectOf(value) ?? {} });
const items = json<readonly JsonObject[]>({ parse: (value) => listOf(value).map((item) => objectOf(item) ?? {}) });

const conversations = tableOf<StoredConversation>({
  id: text,
  owner: text,
  metadata,
  createdAt: integer,
  keptUntil: integer,
});
const batches = tableOf<ItemBatch>({ number: integer, provider: optional(text), items });
const keys = tableOf<ConversationKey>({ id: text, owner: text });

const isOne = ({ id, owner }: ConversationKey): Statement => sql`id = ${id} AND owner = ${owner}`;
const isOf = ({ id, owner }: ConversationKey): Statement => sql`conversation_id = ${id} AND owner = ${owner}`;

class SqlConversationStore implements ConversationStore {
  readonly #sql: SqlRunner;

  constructor(runner: SqlRunner) {
    this.#sql = runner;
  }

  async insert(conversation: StoredConversation, conversationsMax: number): Promise<boolean> {
    const { owner } = conversation;
    const last = sql`SELECT id FROM conversations WHERE owner = ${owner} LIMIT 1 OFFSET ${conversationsMax - 1}`;
    if (await this.#sql.hasRows(last)) return false;
    await this.#sql.run(sql`INSERT INTO conversations (${conversations.names})
      VALUES (${conversations.values(conversation)}) ON CONFLICT DO NOTHING`);
    return true;
  }

  find(key: ConversationKey, at: number): Promise<StoredConversation | undefined> {
    return this.#sql.first(
      sql`SELECT ${conversations.names} FROM conversations WHERE ${isOne(key)} AND kept_until > ${at}`,
      conversations.read,
    );
  }

  update(key: ConversationKey, change: { keptUntil: number; metadata?: JsonObject }): Promise<boolean> {
    const changed = change.metadata && metadata.write(change.metadata);
    return this.#sql.hasRows(sql`UPDATE conversations
      SET kept_until = ${change.keptUntil}, metadata = coalesce(${changed}, metadata)
      WHERE ${isOne(key)} RETURNING id`);
  }

  /** Another turn may take the same number: then the next one is taken. */
  async append(key: ConversationKey, batch: Omit<ItemBatch, "number">): Promise<boolean> {
    const { id, owner } = key;
    const isThere = sql`SELECT id FROM conversations WHERE ${isOne(key)}`;
    while (await this.#sql.hasRows(isThere)) {
      const isAdded = await this.#sql.hasRows(sql`INSERT INTO conversation_items
        (conversation_id, owner, number, provider, items)
        SELECT ${id}, ${owner}, coalesce(max(number), 0) + 1, CAST(${batch.provider} AS text), ${items.write(batch.items)}
        FROM conversation_items WHERE ${isOf(key)}
        ON CONFLICT (conversation_id, owner, number) DO NOTHING RETURNING number`);
      if (isAdded) return true;
    }
    return false;
  }

  batches(key: ConversationKey): Promise<ItemBatch[]> {
    return this.#sql.rows(
      sql`SELECT ${batches.names} FROM conversation_items WHERE ${isOf(key)} ORDER BY number`,
      batches.read,
    );
  }

  replace(key: ConversationKey, before: ItemBatch, left: readonly JsonObject[]): Promise<boolean> {
    return this.#sql.hasRows(sql`UPDATE conversation_items SET items = ${items.write(left)}
      WHERE ${isOf(key)} AND number = ${before.number} AND items = ${items.write(before.items)} RETURNING number`);
  }

  /** The conversation last: one that is left is found again. */
  async remove(key: ConversationKey): Promise<boolean> {
    await this.#sql.run(sql`DELETE FROM conversation_items WHERE ${isOf(key)}`);
    const isRemoved = await this.#sql.hasRows(sql`DELETE FROM conversations WHERE ${isOne(key)} RETURNING id`);
    // A turn may have been added in between.
    if (isRemoved) await this.#sql.run(sql`DELETE FROM conversation_items WHERE ${isOf(key)}`);
    return isRemoved;
  }

  async deleteExpired(at: number): Promise<void> {
    const expired = await this.#sql.rows(
      sql`SELECT ${keys.names} FROM conversations WHERE kept_until <= ${at} ORDER BY kept_until LIMIT ${DELETED_MAX}`,
      keys.read,
    );
    for (const each of expired) await this.remove(each);
  }
}

export function openConversationStore(storage: Storage): ConversationStore {
  return new SqlConversationStore(runnerOf(storage));
}
