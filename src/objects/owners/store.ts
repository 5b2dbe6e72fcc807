import type { StoredObject } from "../../core/index.ts";

/** The owner of an object that a provider stores. */
export interface ObjectOwner extends StoredObject {
  /** The provider's prefix. */
  provider: string;
  /** The name of the user. */
  owner: string;
  /** A short hash of the API key whose answer contained it: the provider may know the object under this key only. */
  keyId: string;
}

/** A provider whose answer contained an item. */
export interface ItemMaker {
  id: string;
  /** The provider's prefix. */
  provider: string;
}

/** Objects from one answer. */
interface OwnedObjects {
  objects: readonly StoredObject[];
  /** The provider's prefix. */
  provider: string;
  owner: string;
  keyId: string;
  /** When the record is deleted, in milliseconds since the epoch. */
  expiresAt: number;
}

/** The interface of the storage of owners. */
export interface ObjectOwnerStore {
  /** Durable when it resolves. A record that exists is extended; that of an uploaded file stays as it is. */
  put(owned: OwnedObjects): Promise<void>;
  /** All owners of these objects at any of the providers that are not expired. */
  find(providers: readonly string[], ids: readonly string[], at: number): Promise<ObjectOwner[]>;
  /** Which of a user's items were made, and at which providers; those that are not expired. */
  makersOf(ids: readonly string[], owner: string, at: number): Promise<ItemMaker[]>;
  /** Deletes expired records, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
