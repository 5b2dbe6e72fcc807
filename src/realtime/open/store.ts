import type { SessionType } from "../../providers/index.ts";
import type { Steps } from "../../storage/index.ts";

/** A session that is open in some process. Times are milliseconds since the epoch. */
export interface ListedRealtimeSession {
  /** The id of its handshake, the parent of all its generations. */
  id: string;
  type: SessionType;
  model: string;
  /** The id of its user, or `project:<id>`. */
  owner: string;
  accountId: string;
  tokenId: string;
  /** The caller's own user, as the handshake's headers name it. */
  endUser: string | undefined;
  /** The name of its process, for a reader of the table. */
  node: string;
  /** A random id of its process: a later one may have the same name. */
  process: string;
  openedAt: number;
  /** When its process has last noted that it is open. */
  seenAt: number;
  /** When an operator has asked for its end; undefined if none has. */
  endAskedAt: number | undefined;
}

export interface RealtimeSessionPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
}

/** The storage of open sessions on either engine. */
export interface SessionStore {
  /** Does nothing for one that is there. */
  add(sessions: readonly ListedRealtimeSession[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
  /** Notes that a process is there. Resolves with the ids of its sessions in the storage. */
  beat(process: string, at: number): Promise<string[]>;
  /** The ids of the sessions of a process that are to end. */
  toEnd(process: string): Promise<string[]>;
  /** Sessions of all processes that were there since then, by id. */
  list(seenSince: number, page: RealtimeSessionPage): Promise<ListedRealtimeSession[]>;
  /** One of these, in a transaction. */
  find(id: string, seenSince: number): Steps<ListedRealtimeSession | undefined>;
  /** Asks for its end, in a transaction. */
  askEnd(id: string, at: number): Steps<void>;
  deleteBefore(at: number): Promise<void>;
}
