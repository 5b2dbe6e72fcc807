import { type JsonObject, objectOf, type Usage } from "../../core/index.ts";
import { counted, free, limitedIn, runsMax, toolReader, toolsOf, typeOf } from "../shared/tools/hosted-tools.ts";
import { countOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";

/** The tools of BytePlus's Responses. */
export const readTool = toolReader([
  [/^(?:function|custom|image_process|mcp)$/, free],
  [/^web_search$/, limitedIn("webSearches")],
]);

/** Without them a request with these tools is refused (`docs/wire/byteplus.md`). They are of no effect without the tools. */
export const toolHeaders = { "ark-beta-web-search": "true", "ark-beta-mcp": "true" };

/** The most searches of a request for an image or a video, which has no other tools. Throws 422 for another one. */
export function searchesMax(body: JsonObject): { toolUnits?: Usage } {
  const tools = toolsOf(body);
  const other = tools.findIndex((tool) => typeOf(tool) !== "web_search");
  if (other !== -1) throw refusal(`tools.${other}.type`, "must be web_search.");
  return tools.length === 0 ? {} : { toolUnits: counted({ webSearches: runsMax(body["max_tool_calls"]) }) };
}

/** The searches that an answer's usage counts. */
export function readTools({ usage }: JsonObject): { usage: Usage } {
  return { usage: counted({ webSearches: countOf(objectOf(objectOf(usage)?.["tool_usage"])?.["web_search"]) }) };
}
