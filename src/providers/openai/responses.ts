import { responsesOperation } from "../shared/responses-operation.ts";

export const responses = responsesOperation({
  path: "/responses",
  totalTellsOutput: false,
  reportedCost: () => undefined,
  listsInput: true,
});
