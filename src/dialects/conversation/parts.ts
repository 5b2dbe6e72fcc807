import type { Dialect, JsonObject } from "../../core/index.ts";

/** Asks the upstream to keep everything up to here in its prompt cache. */
export interface CacheMark {
  ttl?: "5m" | "1h" | undefined;
}

/**
 * Something that only its maker can read and that has to come back to it unchanged: the signature of a thought, a
 * thought in cipher. `origin` names the maker; `native:<dialect>` stands for whoever the client talked to directly.
 */
export interface Signature {
  origin: string;
  value: string;
}

/** Where the bytes of an image or a file are. */
export type Source =
  | { kind: "base64"; mediaType: string; data: string }
  | { kind: "url"; url: string }
  /** In the upstream's own store. */
  | { kind: "stored"; id: string };

/** A place that the text refers to. What has no counterpart elsewhere stays as its dialect said it. */
export type Citation =
  | {
      kind: "url";
      url: string;
      title?: string | undefined;
      /** What is cited, where it is quoted. */
      quoted?: string | undefined;
      /** The stretch of the block's text that the citation is for, in characters, where it is known. */
      start?: number | undefined;
      end?: number | undefined;
      /** The maker's own key to the place. */
      sealed?: Signature | undefined;
    }
  | { kind: "native"; dialect: Dialect; value: JsonObject };

interface PartBase {
  /** The path in the client's body (`messages.0.content.1`), for refusals that name it; answers have none. */
  at?: string | undefined;
  /** The id of the item, in a dialect whose items have ids of their own. */
  id?: string | undefined;
  cache?: CacheMark | undefined;
}

export interface TextPart extends PartBase {
  kind: "text";
  text: string;
  citations?: readonly Citation[] | undefined;
  /** One object a token: `token`, `logprob`, `bytes`, `top_logprobs`. */
  logprobs?: readonly JsonObject[] | undefined;
}

export interface ImagePart extends PartBase {
  kind: "image";
  source: Source;
  detail?: string | undefined;
}

/** A document. `text` is one that is given as plain text instead of bytes, `parts` as a list of parts. */
export interface FilePart extends PartBase {
  kind: "file";
  source: Source | { kind: "text"; text: string } | { kind: "parts"; parts: readonly Part[] };
  name?: string | undefined;
  /** How closely pages are looked at: `low`, `high`. */
  detail?: string | undefined;
  context?: string | undefined;
  /** Whether the model is asked to cite from it. */
  citable?: boolean | undefined;
}

interface AudioPart extends PartBase {
  kind: "audio";
  data: string;
  format: string;
}

export interface ToolCallPart extends PartBase {
  kind: "tool-call";
  /** What the result refers to. */
  callId: string;
  name: string;
  /** JSON as the model wrote it, or free text where `custom`. Never parsed unless the target wants an object. */
  arguments: string;
  /** A call of a tool that takes free text. */
  custom?: boolean | undefined;
  signature?: Signature | undefined;
}

export interface ToolResultPart extends PartBase {
  kind: "tool-result";
  callId: string;
  content: readonly Part[];
  isError?: boolean | undefined;
  custom?: boolean | undefined;
}

export interface ReasoningPart extends PartBase {
  kind: "reasoning";
  text: string;
  /** Summaries, in a dialect that keeps them apart from the reasoning itself. */
  summary?: readonly string[] | undefined;
  signature?: Signature | undefined;
  /** Nothing but the signature, which holds the reasoning in cipher. */
  redacted?: boolean | undefined;
}

export interface RefusalPart extends PartBase {
  kind: "refusal";
  text: string;
}

/** What only its own dialect can say: the call of a tool that the upstream runs, its result, a compaction. */
interface NativePart extends PartBase {
  kind: "native";
  dialect: Dialect;
  value: JsonObject;
}

/** A piece of what is said, in a request. */
export type Part =
  | TextPart
  | ImagePart
  | FilePart
  | AudioPart
  | ToolCallPart
  | ToolResultPart
  | ReasoningPart
  | RefusalPart
  | NativePart;

/** A piece of what a model says. */
export type AnswerBlock = TextPart | ReasoningPart | ToolCallPart | RefusalPart | NativePart;
