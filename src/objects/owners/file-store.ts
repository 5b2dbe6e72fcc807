/** The most that one user may have uploaded. */
export interface FileQuota {
  filesMax: number;
  bytesMax: number;
}

/** An upload under way. It takes a place of its user's quota until it has ended, at most until `until`. */
export interface UploadPlace {
  /** The id of its request. */
  id: string;
  /** The provider's prefix. */
  provider: string;
  owner: string;
  bytes: number;
  /** Milliseconds since the epoch. */
  until: number;
}

/** A file that an upload made. */
interface UploadedFile extends Pick<UploadPlace, "provider" | "owner" | "bytes"> {
  /** The upstream's id. */
  id: string;
  /** A short hash of the API key that made it. */
  keyId: string;
  /** When the upstream deletes it, in milliseconds since the epoch; undefined if it never does. */
  expiresAt: number | undefined;
}

/** The id of a file, and of the API key that made it. */
export type FileKey = Pick<UploadedFile, "id" | "keyId">;

/** The interface of the storage of uploaded files. A file is also found as a stored object of the kind `file`. */
export interface FileStore {
  /** Takes a place, unless the user would then have more than the quota; of several at once, too. Returns whether it did. */
  reserve(place: UploadPlace, quota: FileQuota, at: number): Promise<boolean>;
  /** Returns the place of an upload that failed. */
  cancel(place: UploadPlace): Promise<void>;
  /** Replaces the place by the file; durable when it resolves. Returns false if the id is another user's file. */
  record(place: UploadPlace, file: UploadedFile, at: number): Promise<boolean>;
  /** The files that a user uploaded to a provider and that are not expired. */
  filesOf(provider: string, owner: string, at: number): Promise<FileKey[]>;
  /** Deletes the record of a file, whoever owns it. */
  remove(provider: string, id: string): Promise<void>;
}
