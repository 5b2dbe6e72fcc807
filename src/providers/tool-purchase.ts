import type { HelperModel, JsonObject, ModelUsage, Usage } from "../core/index.ts";

/** The most that one tool of a request may buy if the model uses it, besides the input that it brings in. */
export interface ToolPurchase {
  units?: Usage;
  /** The tokens of other models. */
  others?: readonly ModelUsage[];
  /** A model that the tool asks. */
  helper?: HelperModel;
  /** For a tool without a limit of its own: the field for one. The members above are then those of a single run. */
  limit?: RunLimit;
}

/** The upstream's field that limits the runs of one tool, or those of all tools of a request together. */
export interface RunLimit {
  field: string;
  within: "tool" | "body";
}

/**
 * Reads the purchases of a tool of a body in the upstream's dialect; undefined if they are unknown. Throws 422 for an unknown
 * value within the tool.
 */
export type ToolReader = (tool: JsonObject, body: JsonObject, model: string) => ToolPurchase | undefined;
