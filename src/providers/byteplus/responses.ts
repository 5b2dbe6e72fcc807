import { responsesOperation } from "../shared/responses-operation.ts";
import { readTools, toolsMax } from "./hosted-tools.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: false,
  reportedCost: () => undefined,
  hasSocket: false,
  hidesThought: () => false,
  hostedTools: ["doubao_app", "image_process", "knowledge_search", "mcp", "web_search"],
  toolsMax,
  readTools,
});
