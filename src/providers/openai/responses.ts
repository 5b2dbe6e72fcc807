import { responsesOperation } from "../shared/responses-operation.ts";
import { readTools, toolsMax } from "./hosted-tools.ts";
import { hidesThought } from "./thought.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: false,
  reportedCost: () => undefined,
  listsInput: true,
  hidesThought,
  hasSocket: true,
  toolsMax,
  readTools,
});
