import type { Dialect, Effort, JsonObject } from "../../core/index.ts";
import type { UnmodeledFields } from "./fields.ts";
import type { CacheMark, Part } from "./parts.ts";

/**
 * A request, in no dialect: what a model is asked. Each dialect reads its bodies into this and writes them from it.
 *
 * An undefined member is one that the client left to the upstream. Fields that the model has no member for stand in
 * `rest`, under the names of the dialect that they came in.
 */
export interface Conversation {
  model: string;
  turns: readonly Turn[];
  tools: readonly Tool[];
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  format: OutputFormat | undefined;
  sampling: Sampling;
  stop: readonly string[];
  /** Tokens that may come out, thoughts included. */
  outputTokensMax: number | undefined;
  reasoning: ReasoningOptions | undefined;
  /** How many alternatives to name for each token; 0 for the logprobs of what was said alone. */
  logprobs: number | undefined;
  /** In OpenAI's words: auto, default, flex, priority. */
  serviceTier: string | undefined;
  /** How long to answer: low, medium, high. */
  verbosity: string | undefined;
  /** Who stands behind the caller, for the upstream's watch on abuse. */
  user: string | undefined;
  /** Caching without marks, where the upstream chooses the place. */
  cache: CacheMark | undefined;
  stream: boolean;
  rest: UnmodeledFields;
}

/**
 * Who speaks. Results of tools have turns of their own (`tool`) where the dialect has messages of their own for them;
 * where they are blocks of a user's message, they are parts of that turn. Writers join and part them as they need.
 */
type Role = "system" | "developer" | "user" | "assistant" | "tool";

export interface Turn {
  role: Role;
  parts: readonly Part[];
  /** The path in the client's body, such as `messages.3`. */
  at: string;
  /** The name of a participant. */
  name?: string | undefined;
  /** The id of the item, in a dialect whose items have ids of their own. */
  id?: string | undefined;
}

export type Tool = FunctionTool | CustomTool | NativeTool;

export interface FunctionTool {
  kind: "function";
  at: string;
  name: string;
  description?: string | undefined;
  /** JSON Schema of the arguments. */
  parameters?: JsonObject | undefined;
  strict?: boolean | undefined;
  cache?: CacheMark | undefined;
  /** Members that only the dialect it came in knows; dropped elsewhere. */
  extras?: JsonObject | undefined;
}

/** A tool that takes free text, perhaps by a grammar. */
interface CustomTool {
  kind: "custom";
  at: string;
  name: string;
  description?: string | undefined;
  format?: JsonObject | undefined;
}

/** A tool that the upstream runs, or whose shape only models of its dialect know. */
interface NativeTool {
  kind: "native";
  at: string;
  dialect: Dialect;
  value: JsonObject;
}

export type ToolChoice =
  | {
      mode: "auto" | "required" | "none";
      at: string;
      /** The only tools that may be called, of those that are declared. */
      allowed?: readonly { name: string; custom: boolean }[] | undefined;
    }
  | { mode: "tool"; at: string; name: string; custom: boolean }
  | { mode: "native"; at: string; dialect: Dialect; value: unknown };

export type OutputFormat =
  | { kind: "text"; at: string }
  /** Any JSON object. */
  | { kind: "json"; at: string }
  | {
      kind: "schema";
      at: string;
      schema: JsonObject;
      name?: string | undefined;
      description?: string | undefined;
      strict?: boolean | undefined;
    };

export interface Sampling {
  temperature?: number | undefined;
  topP?: number | undefined;
  topK?: number | undefined;
  frequencyPenalty?: number | undefined;
  presencePenalty?: number | undefined;
  seed?: number | undefined;
}

/** How much the model is to think. Where effort and budget are both there, each target takes the one that it knows. */
export interface ReasoningOptions {
  mode?: "budget" | "adaptive" | "off" | "between-tools" | undefined;
  effort?: Effort | undefined;
  budgetTokens?: number | undefined;
  /** How thoughts are shown: `summarized` or `omitted`. */
  display?: string | undefined;
  /** What summary of the thoughts is wanted: `auto`, `concise`, `detailed`. */
  summary?: string | undefined;
}
