import type { JsonObject } from "../../core/index.ts";

/** A response that runs after its request has ended, until some time after its end. */
export interface BackgroundResponse {
  id: string;
  /** The name of its user. */
  owner: string;
  /** The id of its work, and of its job. */
  workId: string;
  /** The prefix of the provider that makes it. */
  provider: string;
  /** The provider's name of the model. */
  model: string;
  /** The response that it continues. */
  previousId: string | undefined;
  /** The items that its call added; JSON text of a list. */
  input: string;
  /** The response as it was seen last. */
  response: JsonObject;
  /** Whether its owner has cancelled it. */
  isCancelled: boolean;
  createdAt: number;
  endedAt: number | undefined;
  /** When the record is deleted, with its events. All times are in milliseconds since the epoch. */
  keptUntil: number;
}

/** A response of one user. */
export type BackgroundKey = Pick<BackgroundResponse, "id" | "owner">;

/** Events that follow each other. */
export interface EventBatch {
  first: number;
  last: number;
  /** The data of the events, one a line. */
  events: string;
}

/** The end of a response. */
export type BackgroundEnd = Pick<BackgroundResponse, "response" | "keptUntil"> & { endedAt: number };

/** The records on either engine. Each write is one durable commit; an ended response is not changed. */
export interface BackgroundStore {
  /** Resolves with false if the owner has a response with this id. */
  insert(response: BackgroundResponse): Promise<boolean>;
  find(key: BackgroundKey, at: number): Promise<BackgroundResponse | undefined>;
  /** Resolves with whether the response is to go on: it has neither ended nor been cancelled. */
  update(key: BackgroundKey, response: JsonObject): Promise<boolean>;
  /** Undefined if there is no such record. */
  stateOf(key: BackgroundKey): Promise<"running" | "cancelled" | "ended" | undefined>;
  /** May be repeated. */
  append(key: BackgroundKey, batch: EventBatch): Promise<void>;
  /** The batches with events after this number, in order, a bounded number at a time. */
  eventsAfter(key: BackgroundKey, after: number): Promise<EventBatch[]>;
  /** The number of the last event; -1 if there is none. */
  lastNumber(key: BackgroundKey): Promise<number>;
  /** Resolves with whether it has not ended yet. */
  cancel(key: BackgroundKey): Promise<boolean>;
  /** Resolves with whether this is the first end. */
  finish(key: BackgroundKey, end: BackgroundEnd): Promise<boolean>;
  remove(key: BackgroundKey): Promise<void>;
  /** Deletes expired records and their events, a bounded number at a time. */
  deleteExpired(at: number): Promise<void>;
}
