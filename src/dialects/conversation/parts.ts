import type { Dialect, JsonObject } from "../../core/index.ts";

/** Asks the upstream to cache the prompt up to here. */
export interface CacheMark {
  ttl?: "5m" | "1h" | undefined;
}

/**
 * Opaque data that only its maker can read and that must be returned unchanged: the signature of a thought, an
 * encrypted thought. `origin` names the maker; `native:<dialect>` is the upstream that the client called directly.
 */
export interface Signature {
  origin: string;
  value: string;
}

/** The source of an image's or a file's bytes. */
export type Source =
  | { kind: "base64"; mediaType: string; data: string }
  | { kind: "url"; url: string; mediaType?: string | undefined }
  /** In the upstream's own store. */
  | { kind: "stored"; id: string; mediaType?: string | undefined };

/** A source of the text. A citation without a counterpart in other dialects keeps its own format. */
export type Citation =
  | {
      kind: "url";
      url: string;
      title?: string | undefined;
      /** The cited text, if quoted. */
      quoted?: string | undefined;
      /** The cited range of the block's text, in characters, if known. */
      start?: number | undefined;
      end?: number | undefined;
      /** The maker's own reference to the source. */
      sealed?: Signature | undefined;
    }
  | { kind: "native"; dialect: Dialect; value: JsonObject };

interface PartBase {
  /** The path in the client's body (`messages.0.content.1`), for refusals; answers have none. */
  at?: string | undefined;
  /** The id of the item, in a dialect whose items have ids. */
  id?: string | undefined;
  cache?: CacheMark | undefined;
  /** Its members that only its own dialect has, such as the part of a film that is meant. */
  own?: { dialect: Dialect; value: JsonObject } | undefined;
}

export interface TextPart extends PartBase {
  kind: "text";
  text: string;
  citations?: readonly Citation[] | undefined;
  /** One object per token: `token`, `logprob`, `bytes`, `top_logprobs`. */
  logprobs?: readonly JsonObject[] | undefined;
}

export interface ImagePart extends PartBase {
  kind: "image";
  source: Source;
  detail?: string | undefined;
  /** The item that it is in a dialect whose images are items of their own. */
  native?: { dialect: Dialect; value: JsonObject } | undefined;
}

/** A document. `text` is plain text instead of bytes, `parts` a list of parts. */
export interface FilePart extends PartBase {
  kind: "file";
  source: Source | { kind: "text"; text: string } | { kind: "parts"; parts: readonly Part[] };
  name?: string | undefined;
  /** The resolution for pages: `low`, `high`. */
  detail?: string | undefined;
  context?: string | undefined;
  /** Whether the model may cite from it. */
  citable?: boolean | undefined;
}

interface AudioPart extends PartBase {
  kind: "audio";
  data: string;
  format: string;
  /** As the client has written it, if the format does not say all of it. */
  mediaType?: string | undefined;
}

export interface ToolCallPart extends PartBase {
  kind: "tool-call";
  /** The source of the result's content. */
  callId: string;
  name: string;
  /** The group that the tool is in, in a dialect that has such. */
  namespace?: string | undefined;
  /** The model's JSON text, or free text if `custom`. Only parsed if the target needs an object. */
  arguments: string;
  /** A call of a tool that accepts free text. */
  custom?: boolean | undefined;
  /** A call that a program of the upstream makes: the model has not written it. */
  byProgram?: boolean | undefined;
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
  /** Summaries, in a dialect that separates them from the reasoning itself. */
  summary?: readonly string[] | undefined;
  signature?: Signature | undefined;
  /** Only the signature, which contains the encrypted reasoning. */
  redacted?: boolean | undefined;
}

export interface RefusalPart extends PartBase {
  kind: "refusal";
  text: string;
}

/**
 * Content that only its own dialect can express: the call of a tool that the upstream runs, its result, a compaction.
 */
interface NativePart extends PartBase {
  kind: "native";
  dialect: Dialect;
  value: JsonObject;
  /** Its content for upstreams of other dialects; empty for none. Absent: they cannot do without the part. */
  text?: string | undefined;
  /** Why upstreams of other dialects cannot do without the part, and the way out. */
  refusal?: string | undefined;
  /** It stands for everything before it: upstreams of other dialects get it instead, as the user's words. */
  replaces?: boolean | undefined;
  /** A call that the client runs, or its result, for upstreams that do not know its type of tool. */
  substitute?: { type: string; part: ToolCallPart | ToolResultPart } | undefined;
}

/** A part of a request. */
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

/** A part of a model's answer. */
export type AnswerBlock = TextPart | ReasoningPart | ToolCallPart | RefusalPart | ImagePart | NativePart;
