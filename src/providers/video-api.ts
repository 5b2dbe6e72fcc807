import type { JsonObject, ObjectReference, ObservedUsage, VideoOperation, WorkBound } from "../core/index.ts";
import type { CallInput, UpstreamRequestBody } from "./call-input.ts";

/** What a video job may use. */
export type VideoBound = Required<Pick<WorkBound, "outputVideo">> &
  Pick<WorkBound, "inputUnits" | "terms" | "toolUnits">;

/** The body of a request that creates a video job. */
export interface VideoInput extends CallInput {
  /** Whether the client has sent a form. */
  isForm: boolean;
}

/** An earlier video of the caller that a request builds on. */
export interface VideoSource {
  /** The upstream's id of it. */
  id: string;
  /** Its length in seconds, if known. */
  seconds: number | undefined;
  /** The address of its download, if there is one. */
  url: string | undefined;
}

/** How an upstream takes the requests of one operation that creates video jobs. */
export interface VideoRequests {
  /**
   * Converts a request; `source` is the video that its `video.id` names. Throws 422 for a field that has no equivalent,
   * or that would deliver the result past the gateway.
   */
  toUpstream(input: VideoInput, source: VideoSource | undefined): UpstreamRequestBody | Promise<UpstreamRequestBody>;
  /** The most that the upstream bills for it. Throws 422 for a length or a size that is none. */
  bound(input: VideoInput, model: string, source: VideoSource | undefined): VideoBound;
  /** The stored objects, other than `video.id`, that it refers to. */
  references(body: JsonObject): readonly ObjectReference[];
}

/** The state of a job, in OpenAI's terms. The members that an upstream does not report are undefined. */
export interface VideoState {
  status: "queued" | "in_progress" | "completed" | "failed";
  /** In percent. */
  progress?: number | undefined;
  /** The addresses of the videos, for a job that has completed. */
  urls: readonly string[];
  error?: { code: string; message: string } | undefined;
  seconds?: number | undefined;
  size?: string | undefined;
  /** In seconds since the epoch. */
  createdAt?: number | undefined;
  completedAt?: number | undefined;
  /** When the video can no longer be downloaded. */
  expiresAt?: number | undefined;
  /** The file that the upstream has stored the video as. */
  fileId?: string | undefined;
  /** What an ended job is charged; undefined if that is nothing. */
  observed?: ObservedUsage | undefined;
}

/** The request of a job, as far as its cost depends on it. */
export interface AskedVideo {
  operation: VideoOperation;
  bound: WorkBound;
}

/** A job in the words of its provider's own API, for the clients of that API. */
export interface OwnVideoShape {
  /** The job, given the provider's last answer about it and its state; a job may have ended here alone, as one that is lost. */
  job(answer: JsonObject, state: VideoState, id: string): JsonObject;
  /** The HTTP status of a look-up. */
  status(state: VideoState): number;
}

/** How an upstream's video jobs are followed after their creation. */
export interface VideoApi {
  /** Appended to the base URL; a job is at `<path>/<id>`. */
  path: string;
  /** Whether ids of this kind belong to this kind of provider. */
  isOwnId(id: string): boolean;
  /** The id of the job in the answer to its creation. */
  readId(answer: JsonObject): string | undefined;
  /** Absent for OpenAI's API, whose shape all jobs have. */
  ownShape?: OwnVideoShape;
  /** Reads a job. */
  readJob(answer: JsonObject, asked: AskedVideo, at: number): VideoState;
  /** Whether jobs can be deleted or cancelled. */
  canDelete: boolean;
  /** Whether the bytes of a video are at `<path>/<id>/content`. */
  hasContent: boolean;
  /** How long to wait at least before a job is looked up again, in milliseconds. */
  pollMsMin: number;
  /** A job that has not ended after this time, in milliseconds, is taken for lost. */
  jobMsMax: number;
}
