import type { JsonObject, Nano, VideoOperation } from "../core/index.ts";
import type { VideoState } from "../providers/index.ts";

/** A video job of a user. Its hold is in the ledger, and the job that follows it in `jobs`, both under the same id. */
export interface StoredVideo {
  /** The id of the request that created it. */
  id: string;
  /** The upstream's id; undefined until the upstream has answered. */
  videoId: string | undefined;
  /** The provider's prefix. */
  provider: string;
  /** The id of the key that created it. */
  keyId: string | undefined;
  /** The name of the user. */
  owner: string;
  accountId: string;
  /** The provider's name of the model. */
  model: string;
  operation: VideoOperation;
  /** The video that it was made from. */
  sourceId: string | undefined;
  /** Notified of the end. */
  webhookUrl: string | undefined;
  /** Of the request: what the upstream may not repeat. */
  requested: { seconds: number | undefined; size: string | undefined };
  /** The state that was seen last. */
  state: VideoState;
  /** The upstream's own answer with that state. */
  answer: JsonObject;
  /** What it was charged; undefined before its end. */
  credits: Nano | undefined;
  createdAt: number;
  polledAt: number;
  /** When the record is deleted. All times are in milliseconds since the epoch. */
  keptUntil: number;
}

/** What changes when the upstream was asked. */
export type SeenVideo = Pick<StoredVideo, "state" | "answer" | "credits" | "polledAt" | "keptUntil">;

/** What the upstream answered to the creation. */
export type CreatedVideo = Pick<StoredVideo, "videoId" | "keyId" | "state" | "answer" | "polledAt">;

/** What another target changes, before the upstream has created the job. */
export type MovedVideo = Pick<StoredVideo, "provider" | "model" | "requested" | "keptUntil">;

export interface VideoList {
  /** Undefined for all users. */
  owner: string | undefined;
  provider: string;
  isAscending: boolean;
  limit: number;
  /** The record before the first one. */
  after: Pick<StoredVideo, "id" | "createdAt"> | undefined;
}

/** The jobs' records on either engine. Each write is one durable commit. */
export interface VideoStore {
  insert(video: StoredVideo): Promise<void>;
  find(id: string): Promise<StoredVideo | undefined>;
  /** The jobs with this id at any provider. */
  findByVideoId(videoId: string): Promise<StoredVideo[]>;
  moved(id: string, moved: MovedVideo): Promise<void>;
  /** Resolves with false if another job of the provider has this id. */
  created(id: string, created: CreatedVideo): Promise<boolean>;
  seen(id: string, seen: SeenVideo): Promise<void>;
  list(list: VideoList): Promise<StoredVideo[]>;
  /** Those of a provider with these ids of its own, the newest first. */
  listNamed(list: Pick<VideoList, "owner" | "provider">, videoIds: readonly string[]): Promise<StoredVideo[]>;
  remove(id: string): Promise<void>;
  /** Deletes expired records, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
