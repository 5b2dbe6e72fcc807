import type { BytesBound, BytesKind, StoredBytes, StoredBytesStore } from "./store.ts";

/** The share of a user's bound that may be added before the oldest bytes are deleted again. */
const SLACK = 1 / 16;

/** Users whose additions a process counts. The additions of the others count from zero again. */
const USERS_MAX = 10_000;

/** The additions of a user since the oldest bytes were deleted last. */
interface Added {
  count: number;
  bytes: number;
}

export interface BoundedBytesOptions {
  store: StoredBytesStore;
  kind: BytesKind;
  /** Of one user. Each process may exceed it by a sixteenth until it deletes the oldest. */
  bound: BytesBound;
}

/** The bytes of one kind. A user's oldest ones make room for new ones. */
export class BoundedBytes {
  readonly #options: BoundedBytesOptions;
  readonly #added = new Map<string, Added>();

  constructor(options: BoundedBytesOptions) {
    this.#options = options;
  }

  async put(bytes: Omit<StoredBytes, "kind">): Promise<void> {
    const { store, kind, bound } = this.#options;
    const { owner, content } = bytes;
    const before = this.#added.get(owner) ?? { count: 0, bytes: 0 };
    const added = { count: before.count + 1, bytes: before.bytes + content.byteLength };
    await store.put({ ...bytes, kind });
    if (added.count >= bound.countMax * SLACK || added.bytes >= bound.bytesMax * SLACK) {
      this.#added.delete(owner);
      await store.trim(kind, owner, bound);
    } else {
      if (this.#added.size >= USERS_MAX) this.#added.clear();
      this.#added.set(owner, added);
    }
  }

  find(id: string, at: number): Promise<StoredBytes | undefined> {
    return this.#options.store.find(this.#options.kind, id, at);
  }
}
