import type { ModelFacts } from "../../core/index.ts";
import type { UpstreamOperation } from "../provider.ts";
import { responsesOperation } from "../shared/responses-operation.ts";
import { readTool, readTools } from "./hosted-tools.ts";
import { samplingEdits } from "./sampling.ts";
import { tierNames } from "./tiers.ts";
import { effortsOf, hidesThought } from "./thought.ts";

function withEfforts(model: string): ModelFacts {
  const efforts = effortsOf(model);
  return efforts === undefined ? {} : { efforts };
}

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
  tierNames,
  modelEdits: samplingEdits,
  readTool,
  readTools,
  facts: (model) =>
    hidesThought(model)
      ? { ...withEfforts(model), developerRole: true, refusesSampling: true, summarizesThoughts: true }
      : { developerRole: true, efforts: [] },
});
