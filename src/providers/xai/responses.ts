import { responsesOperation } from "../shared/responses-operation.ts";
import { reportedCost } from "./cost.ts";
import { readTools, toolsMax } from "./hosted-tools.ts";
import { hidesThought } from "./thought.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: true,
  reportedCost,
  listsInput: false,
  hidesThought,
  hasSocket: true,
  toolsMax,
  readTools,
});
