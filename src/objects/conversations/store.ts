import type { JsonObject } from "../../core/index.ts";

/** A conversation of a user, to which calls of Responses add their input and output. */
export interface StoredConversation {
  id: string;
  /** The name of its user. */
  owner: string;
  metadata: JsonObject;
  createdAt: number;
  /** When it is deleted: a while after the last change. Times are in milliseconds since the epoch. */
  keptUntil: number;
}

export type ConversationKey = Pick<StoredConversation, "id" | "owner">;

/** Items that were added together. */
export interface ItemBatch {
  number: number;
  /** The prefix of the provider that stores the thoughts among them; undefined if none does. */
  provider: string | undefined;
  items: readonly JsonObject[];
}

/** The conversations on either engine. Each write is one durable commit. */
export interface ConversationStore {
  /** Resolves with false if the owner has this many conversations. */
  insert(conversation: StoredConversation, conversationsMax: number): Promise<boolean>;
  find(key: ConversationKey, at: number): Promise<StoredConversation | undefined>;
  /** Resolves with whether there is such a conversation. */
  update(
    key: ConversationKey,
    change: Pick<StoredConversation, "keptUntil"> & { metadata?: JsonObject },
  ): Promise<boolean>;
  /** Adds a batch behind all others. Resolves with whether there is such a conversation. */
  append(key: ConversationKey, batch: Omit<ItemBatch, "number">): Promise<boolean>;
  /** In order. */
  batches(key: ConversationKey): Promise<ItemBatch[]>;
  /** Replaces a batch that is still like `before`. Resolves with whether it is. */
  replace(key: ConversationKey, before: ItemBatch, items: readonly JsonObject[]): Promise<boolean>;
  remove(key: ConversationKey): Promise<boolean>;
  /** Deletes expired ones with their items, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
