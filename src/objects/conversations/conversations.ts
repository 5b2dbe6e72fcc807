/** Conversations for every provider: kept by the gateway, and found by their owner alone. */
import type { Principal } from "../../auth/index.ts";
import {
  type Clock,
  GatewayError,
  isStorableId,
  type JsonObject,
  limits,
  type RandomBytes,
  randomId,
} from "../../core/index.ts";
import { inputItems } from "../../dialects/index.ts";
import type { ConversationKey, ConversationStore, ItemBatch, StoredConversation } from "./store.ts";

/** Characters of an id's random part: 124 random bits. */
const ID_CHARACTERS = 24;

export interface ConversationDependencies {
  store: ConversationStore;
  clock: Clock;
  randomBytes: RandomBytes;
}

/** Of a new conversation. */
interface ConversationStart {
  metadata: JsonObject;
  items: readonly JsonObject[];
}

export class Conversations {
  readonly #deps: ConversationDependencies;

  constructor(deps: ConversationDependencies) {
    this.#deps = deps;
  }

  /** Throws 422 for items that are none, and if the caller has too many conversations. */
  async create({ user: owner }: Principal, { metadata, items }: ConversationStart): Promise<StoredConversation> {
    const { store, clock } = this.#deps;
    const stored = this.#named(items);
    const at = clock();
    const conversation = { id: `conv_${this.#newId()}`, owner, metadata, createdAt: at, keptUntil: this.#keptUntil() };
    if (!(await store.insert(conversation, limits.conversationsPerUserMax))) {
      const message = `You have ${limits.conversationsPerUserMax} conversations: delete some, or let them expire.`;
      throw new GatewayError("validation_failed", message);
    }
    if (stored.length > 0) await store.append(conversation, { items: stored, provider: undefined });
    return conversation;
  }

  /** Throws 404 if the caller has no such conversation. */
  async find(id: string, principal: Principal): Promise<StoredConversation> {
    const found = await this.findOwn(id, principal);
    if (found === undefined) throw notFound("conversation", id);
    return found;
  }

  async findOwn(id: string, { user: owner }: Principal): Promise<StoredConversation | undefined> {
    const { store, clock } = this.#deps;
    return isStorableId(id) ? store.find({ id, owner }, clock()) : undefined;
  }

  /** Replaces the metadata. Throws 404 if the caller has no such conversation. */
  async update(id: string, principal: Principal, metadata: JsonObject): Promise<StoredConversation> {
    const found = await this.find(id, principal);
    await this.#deps.store.update(found, { metadata, keptUntil: this.#keptUntil() });
    return { ...found, metadata };
  }

  /** Throws 404 if the caller has no such conversation. */
  async remove(id: string, principal: Principal): Promise<void> {
    await this.#deps.store.remove(await this.find(id, principal));
  }

  /** All items, oldest first. Throws 404 if the caller has no such conversation. */
  async items(id: string, principal: Principal): Promise<readonly JsonObject[]> {
    const batches = await this.#deps.store.batches(await this.find(id, principal));
    return batches.flatMap(({ items }) => items);
  }

  /** Adds items. Throws 404 if the caller has no such conversation, and 422 for items that are none or make it too long. */
  async add(id: string, principal: Principal, items: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    const conversation = await this.find(id, principal);
    const stored = this.#named(items);
    const before = await this.#deps.store.batches(conversation);
    if (bytesOf([...before, { items: stored }]) > limits.expandedBytesMax) throw tooLong("items");
    await this.append(conversation, { items: stored, provider: undefined });
    return stored;
  }

  /** Throws 404 if there is no such item. */
  async item(id: string, itemId: string, principal: Principal): Promise<JsonObject> {
    const item = (await this.items(id, principal)).find((each) => each["id"] === itemId);
    if (item === undefined) throw notFound("item", itemId);
    return item;
  }

  /** Resolves with the conversation. Throws 404 if there is no such item. */
  async removeItem(id: string, itemId: string, principal: Principal): Promise<StoredConversation> {
    const { store } = this.#deps;
    const conversation = await this.find(id, principal);
    for (;;) {
      const isIt = (each: JsonObject): boolean => each["id"] === itemId;
      const batch = (await store.batches(conversation)).find(({ items }) => items.some(isIt));
      if (batch === undefined) throw notFound("item", itemId);
      const left = batch.items.filter((each) => !isIt(each));
      // Another request may have removed one of the same batch.
      if (await store.replace(conversation, batch, left)) return conversation;
    }
  }

  /**
   * The items for a call to this provider, oldest first: thoughts without content are known to the provider that has made them
   * alone. Throws 422 if they are too long.
   */
  async itemsFor(conversation: ConversationKey, provider: string): Promise<readonly JsonObject[]> {
    const batches = await this.#deps.store.batches(conversation);
    if (bytesOf(batches) > limits.expandedBytesMax) throw tooLong("conversation");
    return batches.flatMap(({ provider: keeper, items }) =>
      keeper === provider ? items : items.filter((item) => !isBareThought(item)),
    );
  }

  /** Adds the items of a turn. One whose conversation was deleted meanwhile is not kept. */
  async append(conversation: ConversationKey, batch: Omit<ItemBatch, "number">): Promise<void> {
    const { store } = this.#deps;
    await store.append(conversation, batch);
    await store.update(conversation, { keptUntil: this.#keptUntil() });
  }

  /** Deletes expired conversations. */
  deleteExpired(): Promise<void> {
    return this.#deps.store.deleteExpired(this.#deps.clock());
  }

  #newId(): string {
    return randomId(this.#deps.randomBytes, ID_CHARACTERS);
  }

  #keptUntil(): number {
    return this.#deps.clock() + limits.responseTtlMs;
  }

  /** As they are stored: each with an id. */
  #named(items: readonly JsonObject[]): JsonObject[] {
    return items.length === 0 ? [] : inputItems({ input: items }, this.#newId());
  }
}

function bytesOf(batches: readonly Pick<ItemBatch, "items">[]): number {
  return batches.reduce((sum, { items }) => sum + Buffer.byteLength(JSON.stringify(items)), 0);
}

function isBareThought({ type, encrypted_content: content }: JsonObject): boolean {
  return type === "reasoning" && (typeof content !== "string" || content === "");
}

function tooLong(param: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: the conversation is too long.`, { param });
}

function notFound(kind: "conversation" | "item", id: string): GatewayError {
  return new GatewayError("object_not_found", `There is no ${kind} ${JSON.stringify(id.slice(0, 80))} of yours.`);
}
