/** The last good text of the operator's catalog. */
interface StoredCatalog {
  text: string;
  /** When it was read from its location, in milliseconds since the epoch. */
  readAt: number;
}

/** The interface of the storage of the operator's catalog. It has at most one, that of the last location. */
export interface CatalogStore {
  find(location: string): Promise<StoredCatalog | undefined>;
  /** When it was read, without its text. */
  readAt(location: string): Promise<number | undefined>;
  /** Durable when it resolves. Replaces the stored one. */
  put(location: string, stored: StoredCatalog): Promise<void>;
}
