import { responsesOperation } from "../shared/responses-operation.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: false,
  reportedCost: () => undefined,
  listsInput: true,
  hidesThought: () => false,
});
