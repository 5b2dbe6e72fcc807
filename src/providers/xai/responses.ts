import { responsesOperation } from "../shared/responses-operation.ts";
import { reportedCost } from "./cost.ts";
import { readTools, toolsMax } from "./hosted-tools.ts";
import { hidesThought } from "./thought.ts";

export const responses = responsesOperation({
  path: "/responses",
  outputFromTotal: true,
  reportedCost,
  hidesThought,
  hasSocket: true,
  hostedTools: [
    "code_execution",
    "code_interpreter",
    "collections_search",
    "file_search",
    "image_generation",
    "mcp",
    "view_image",
    "view_x_video",
    "web_search",
    "web_search_preview",
    "x_search",
  ],
  toolsMax,
  readTools,
});
