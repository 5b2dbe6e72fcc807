/**
 * `page`: an entry of the page cache. `version`: a page whose changes are tracked, as it was last. `scan`: the text of a document's
 * page that is a picture. `screenshot`: an image that its address serves.
 */
export type BytesKind = "page" | "version" | "scan" | "screenshot";

/** Bytes that are kept for a user until a moment. */
export interface StoredBytes {
  kind: BytesKind;
  /** Unique within the kind. */
  id: string;
  /** The user. */
  owner: string;
  mediaType: string;
  content: Uint8Array;
  storedAt: number;
  keptUntil: number;
}

/** The bound of one user's bytes of one kind. */
export interface BytesBound {
  countMax: number;
  bytesMax: number;
}

/** The storage of such bytes on either engine. Each write is one durable commit. */
export interface StoredBytesStore {
  /** Replaces bytes of the same id and owner. An id of another owner stays as it is. */
  put(bytes: StoredBytes): Promise<void>;
  /** Finds bytes that are kept at this moment. */
  find(kind: BytesKind, id: string, at: number): Promise<StoredBytes | undefined>;
  /** Deletes the owner's oldest bytes beyond the bound. */
  trim(kind: BytesKind, owner: string, bound: BytesBound): Promise<void>;
  /** Deletes bytes that are not kept any longer, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
