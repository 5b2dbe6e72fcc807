import type { HelperModel, JsonObject, ModelUsage, Usage } from "../core/index.ts";

/** The most that one tool of a request may buy if the model uses it, besides the input that it brings in. */
export interface ToolPurchase {
  units?: Usage;
  /** The tokens of other models. */
  others?: readonly ModelUsage[];
  /** A model that the tool asks. */
  helper?: HelperModel;
}

/**
 * Reads a tool of a body in the upstream's dialect; undefined for one of which it is not known what it buys. Throws 422 for
 * a value within the tool of which that is not known.
 */
export type ToolReader = (tool: JsonObject, body: JsonObject, model: string) => ToolPurchase | undefined;
