import { factRows, factsFrom } from "../facts/index.ts";
import { responsesOperation } from "../shared/responses-operation.ts";
import { readTool, readTools } from "./hosted-tools.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: false,
  reportedCost: () => undefined,
  hasSocket: false,
  hidesThought: () => false,
  hasForeignTools: true,
  readTool,
  readTools,
  facts: factsFrom(factRows.byteplus, "responses"),
});
