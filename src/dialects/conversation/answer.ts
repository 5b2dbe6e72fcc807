import type { JsonObject, Usage } from "../../core/index.ts";
import type { Failure } from "./failure.ts";
import type { AnswerBlock, Citation, Signature } from "./parts.ts";

/** A whole answer, independent of dialects. */
export interface Answer {
  /** The upstream's id. */
  id: string;
  model: string;
  /** Seconds since the epoch, if the upstream reports it. */
  created: number | undefined;
  choices: readonly AnswerChoice[];
  usage: Usage | undefined;
  /** In OpenAI's terms: default, flex, priority. */
  serviceTier: string | undefined;
}

export interface AnswerChoice {
  blocks: readonly AnswerBlock[];
  stop: Stop;
}

/** Why an answer ended. */
export type StopReason =
  | "end"
  | "length"
  | "context-window"
  | "tool-calls"
  | "stop-sequence"
  | "refusal"
  | "content-filter"
  | "pause";

export interface Stop {
  reason: StopReason;
  /** The matched stop sequence. */
  sequence?: string | undefined;
  /** The upstream's explanation of a refusal. */
  details?: JsonObject | undefined;
}

/**
 * A streamed answer, independent of dialects. Readers emit events in this order, on which writers rely:
 *
 *   start, then for every choice: (block-start, (delta | citation | signature)*, block-end)*, stop; then end
 *
 * - The first event is `start` or `error`; the last is `end` or `error`, and nothing follows it.
 * - Blocks of one choice come one after the other, at most one is open, and their indices count up from 0. Choices may
 *   interleave.
 * - `block-start` contains the data known before the first delta: its texts and arguments are empty, an image and a
 *   native block are complete. Only the gateway's own tools begin a native block before its end is known: `native` then
 *   has the whole of it.
 * - `usage` may come anywhere between, also more than once: each figure replaces the one before.
 *
 * A whole answer is the sum of its events (`collectAnswer`), and `eventsOfAnswer` converts it back to events.
 */
export type AnswerEvent =
  | StartEvent
  | BlockStartEvent
  | DeltaEvent
  | CitationEvent
  | SignatureEvent
  | NativeEvent
  | BlockEndEvent
  | UsageEvent
  | StopEvent
  | { type: "end" }
  | { type: "error"; failure: Failure };

export interface StartEvent {
  type: "start";
  id: string;
  model: string;
  created: number | undefined;
}

/** The first event, from an upstream's members of that name. */
export function startEvent({ id, model, created }: JsonObject, upstream: { model: string }): StartEvent {
  return {
    type: "start",
    id: typeof id === "string" ? id : "",
    model: typeof model === "string" && model !== "" ? model : upstream.model,
    created: typeof created === "number" && created > 0 ? created : undefined,
  };
}

/** The failure of a stream that closes before its end. */
export const brokenOff: Failure = {
  kind: "server",
  code: "upstream_interrupted",
  message: "The upstream's stream broke off.",
};

export interface BlockStartEvent {
  type: "block-start";
  choice: number;
  index: number;
  block: AnswerBlock;
}

/** More of the open block: text, reasoning, refusal or arguments, by the block's kind. */
export interface DeltaEvent {
  type: "delta";
  choice: number;
  index: number;
  text: string;
  /** In a reasoning block: the number of the summary that the text belongs to, instead of the reasoning itself. */
  summary?: number | undefined;
  logprobs?: readonly JsonObject[] | undefined;
}

export interface CitationEvent {
  type: "citation";
  choice: number;
  index: number;
  citation: Citation;
}

export interface SignatureEvent {
  type: "signature";
  choice: number;
  index: number;
  signature: Signature;
}

/** The whole of the open native block. */
export interface NativeEvent {
  type: "native";
  choice: number;
  index: number;
  value: JsonObject;
}

interface BlockEndEvent {
  type: "block-end";
  choice: number;
  index: number;
}

export interface UsageEvent {
  type: "usage";
  usage: Usage | undefined;
  serviceTier: string | undefined;
}

interface StopEvent {
  type: "stop";
  choice: number;
  stop: Stop;
}
