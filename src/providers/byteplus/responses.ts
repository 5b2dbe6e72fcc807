import { responsesOperation } from "../shared/responses-operation.ts";
import { readTools, toolsMax } from "./hosted-tools.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: false,
  reportedCost: () => undefined,
  hasSocket: false,
  listsInput: true,
  hidesThought: () => false,
  toolsMax,
  readTools,
});
