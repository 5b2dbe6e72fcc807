import { responsesOperation } from "../shared/responses-operation.ts";
import { reportedCost } from "./cost.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: true,
  reportedCost,
  listsInput: false,
});
