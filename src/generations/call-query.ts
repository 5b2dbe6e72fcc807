import type { Generation } from "./generation.ts";

/** Which calls are asked for; an undefined member selects none out. */
export interface CallFilter {
  /** The user's id. */
  owner?: string | undefined;
  /** The account of the organisation that the calls' accounts are below. */
  organisationAccount?: string | undefined;
  tokenId?: string | undefined;
  /** The prefix of the provider. */
  provider?: string | undefined;
  /** The model's id, with the prefix. */
  model?: string | undefined;
  operation?: string | undefined;
  /** Whether they gave no answer as asked for. A call that its client has left has not failed. */
  hasFailed?: boolean | undefined;
  session?: string | undefined;
  endUser?: string | undefined;
  /** The values of tags by their keys; null for calls without the tag. */
  tags?: Readonly<Record<string, string | null>> | undefined;
}

interface Cancellable {
  /** Aborts the reading if the caller disconnects. */
  signal?: AbortSignal | undefined;
}

/** Calls that began at `from` or later, and before `to`, in milliseconds since the epoch. From the newest. */
export interface CallQuery extends Cancellable {
  filter: CallFilter;
  from: number;
  to: number;
  /** The cursor of a part before. */
  after?: string | undefined;
}

export interface CallPageQuery extends CallQuery {
  limit: number;
  /** Records that are searched at most. */
  rowsMax?: number;
}

/** A part of the calls that were asked for; it may have none of them. */
export interface CallPart {
  calls: Generation[];
  /** The cursor of the rest; undefined if there is none. */
  next: string | undefined;
}

export interface CallPage extends CallPart {
  /** The time down to which was searched, if that is not the whole period. */
  scannedFrom?: number;
}

/** An id that is not ours: the caller's own id of the request, or the upstream's. */
export interface ForeignIdQuery extends Cancellable {
  id: string;
  organisationAccount?: string | undefined;
  /** Before this time, in milliseconds since the epoch. */
  to: number;
  /** Records that are searched at most. */
  rowsMax?: number;
}

/** The latest call with the id, or the time down to which was searched for it. */
export type ForeignIdOutcome = { call: Generation } | { searchedFrom: number };

/** Ended calls of all processes, as they are committed. */
export interface CallNews {
  /** At most so many as were asked for. */
  calls: Generation[];
  /** Those that came besides. */
  left: number;
}

/** Follows the calls of all processes, each of which it returns once. */
export interface CallFollower {
  /** The calls that were committed since the last time, at most `limit` of them, and the number of the others. */
  next(limit: number): Promise<CallNews>;
}
