import type { JsonObject, ObservedUsage, ReplyBody, ReplyHeaders } from "../core/index.ts";

/** An upstream's reply. */
export type Reply = StreamReply | WholeReply | FailedReply;

/** A success whose body has not been read. */
export interface StreamReply {
  kind: "stream";
  status: number;
  headers: ReplyHeaders;
  body: ReplyBody;
  /** The id of the key of the request: objects that the request made belong to that key. */
  keyId: string;
  /** The number of the attempt, among all of its work. */
  attempt: number;
  /** When it began, and when its head came, by the performance clock. */
  begunAt: number;
  headAt: number;
}

/** Whole answers, with the head of the first one: several if the call was several requests. */
export interface WholeReply {
  kind: "whole";
  status: number;
  headers: ReplyHeaders;
  answers: readonly [WholeAnswer, ...WholeAnswer[]];
  keyId: string;
}

/** An upstream's own error, or a failure with a success status, read whole. The keys are redacted. */
export interface FailedReply {
  kind: "failed";
  status: number;
  headers: ReplyHeaders;
  body: string;
}

/** A whole answer, and its properties. */
export interface WholeAnswer {
  bytes: Buffer;
  text: string;
  answer: JsonObject;
  usage: ObservedUsage | undefined;
  /** A failure with a success status: relayed, and not charged. */
  failed: boolean;
}
