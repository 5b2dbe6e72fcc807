import { factRows, factsFrom } from "../facts/index.ts";
import { responsesOperation } from "../shared/responses-operation.ts";
import { reportedCost } from "./cost.ts";
import { readTool, readTools } from "./hosted-tools.ts";
import { hidesThought } from "./thought.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: true,
  reportedCost,
  hidesThought,
  hasSocket: true,
  hasForeignTools: true,
  readTool,
  readTools,
  facts: factsFrom(factRows.xai, "responses"),
});
