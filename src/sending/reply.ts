import type { JsonObject, ObservedUsage, ReplyBody, ReplyHeaders } from "../core/index.ts";

/** What came back from an upstream. */
export type Reply = StreamReply | WholeReply | FailedReply;

/** A success whose body is still to come. */
export interface StreamReply {
  kind: "stream";
  status: number;
  headers: ReplyHeaders;
  body: ReplyBody;
  /** The id of the key that it was asked for with: whatever it made belongs to that key. */
  keyId: string;
}

/** Answers that have come whole, with the head of the first one: several where the call was several requests. */
export interface WholeReply {
  kind: "whole";
  status: number;
  headers: ReplyHeaders;
  answers: readonly [WholeAnswer, ...WholeAnswer[]];
  keyId: string;
}

/** An upstream's own error, or a failure under a status of success, read whole. The keys are redacted. */
export interface FailedReply {
  kind: "failed";
  status: number;
  headers: ReplyHeaders;
  body: string;
}

/** A whole answer, and what it says about itself. */
export interface WholeAnswer {
  bytes: Buffer;
  text: string;
  answer: JsonObject;
  usage: ObservedUsage | undefined;
  /** A success status around a failure: relayed, and not charged. */
  failed: boolean;
}
