import { factRows, factsFrom } from "../facts/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { responsesOperation } from "../shared/responses-operation.ts";
import { readTool, readTools } from "./hosted-tools.ts";
import { tierNames } from "./tiers.ts";
import { hidesThought } from "./thought.ts";

/** Counts the input tokens that a call would have. */
export const countResponseTokens: UpstreamOperation = {
  dialect: "responses",
  path: "/responses/input_tokens",
  edits: () => [],
  readUsage: () => undefined,
  isFailure: ({ input_tokens: tokens }) => typeof tokens !== "number",
};

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: false,
  reportedCost: () => undefined,
  hidesThought,
  hasSocket: true,
  compacts: true,
  runsInBackground: true,
  tierNames,
  readTool,
  readTools,
  facts: factsFrom(factRows.openai, "responses"),
});
