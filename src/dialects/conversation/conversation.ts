import type { Dialect, Effort, JsonObject } from "../../core/index.ts";
import type { UnmodeledFields } from "./fields.ts";
import type { AnswerBlock, CacheMark, Part, ToolCallPart } from "./parts.ts";

/**
 * A request to a model, independent of dialects. Each dialect reads its bodies into this type and writes them from it.
 *
 * An undefined member was left to the upstream by the client. Fields without a member in the model are in `rest`, under
 * their names in the client's dialect.
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
  /** The limit of output tokens, including reasoning. */
  outputTokensMax: number | undefined;
  reasoning: ReasoningOptions | undefined;
  /** The number of alternatives per token; 0 for the logprobs of the chosen tokens only. */
  logprobs: number | undefined;
  /** In OpenAI's terms: auto, default, flex, priority. */
  serviceTier: string | undefined;
  /** The length of the answer: low, medium, high. */
  verbosity: string | undefined;
  /** An identifier of the end user, for the upstream's abuse detection. */
  user: string | undefined;
  /** Caching without marks: the upstream chooses the positions. */
  cache: CacheMark | undefined;
  stream: boolean;
  rest: UnmodeledFields;
}

/**
 * The speaker. Results of tools have their own turns (`tool`) if the dialect has separate messages for them; if they
 * are blocks of a user's message, they are parts of that turn. Writers join and split turns as needed.
 */
type Role = "system" | "developer" | "user" | "assistant" | "tool";

export interface Turn {
  role: Role;
  parts: readonly Part[];
  /** The path in the client's body, such as `messages.3`. */
  at: string;
  /** The name of a participant. */
  name?: string | undefined;
  /** The id of the item, in a dialect whose items have ids. */
  id?: string | undefined;
}

export type Tool = FunctionTool | CustomTool | NativeTool;

/**
 * Only an upstream that acts on the parts of a history which add, remove and load tools gets it, or only one that does not: for
 * that one they have been applied already.
 */
type ToolReach = "own" | "others";

export interface FunctionTool {
  kind: "function";
  at: string;
  name: string;
  description?: string | undefined;
  /** JSON Schema of the arguments. */
  parameters?: JsonObject | undefined;
  strict?: boolean | undefined;
  cache?: CacheMark | undefined;
  reach?: ToolReach | undefined;
  /** Members that only the client's dialect knows; dropped in others. */
  extras?: JsonObject | undefined;
}

/** A tool that accepts free text, optionally defined by a grammar. */
export interface CustomTool {
  kind: "custom";
  at: string;
  name: string;
  description?: string | undefined;
  /** Free text, or a grammar with its `syntax` and its `definition`. */
  format?: JsonObject | undefined;
  reach?: ToolReach | undefined;
}

/** A tool that the upstream runs, or whose format only models of its dialect know. */
export interface NativeTool {
  kind: "native";
  at: string;
  dialect: Dialect;
  type: string;
  value: JsonObject;
  /** The upstream runs it, so that a model can do without it; the client runs all others. */
  hosted: boolean;
  /** Of one that the client runs: the function for upstreams that do not know its type. */
  substitute?: ToolSubstitute | undefined;
}

/** A function that stands for a tool of a type that only one dialect has. */
export interface ToolSubstitute extends Pick<FunctionTool, "name" | "description" | "parameters"> {
  /** The block of the client's dialect for a call; absent: its calls are those of functions. */
  restore?: ((call: ToolCallPart) => AnswerBlock) | undefined;
}

export type ToolChoice =
  | {
      mode: "auto" | "required" | "none";
      at: string;
      /** The permitted subset of the declared tools. */
      allowed?: readonly { name: string; custom: boolean }[] | undefined;
    }
  | { mode: "tool"; at: string; name: string; custom: boolean }
  | { mode: "native"; at: string; dialect: Dialect; value: unknown; type?: string | undefined };

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

/**
 * How much the model should think. If effort and budget are both present, each target uses the one that it supports.
 */
export interface ReasoningOptions {
  mode?: "budget" | "adaptive" | "off" | "between-tools" | undefined;
  effort?: Effort | undefined;
  budgetTokens?: number | undefined;
  /** The display of thoughts: `summarized` or `omitted`. */
  display?: string | undefined;
  /** The requested summary of thoughts: `auto`, `concise`, `detailed`. */
  summary?: string | undefined;
}
