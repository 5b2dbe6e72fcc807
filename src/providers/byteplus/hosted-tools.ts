import { type JsonObject, objectOf, type Usage } from "../../core/index.ts";
import { counted, runsMax, toolsOf, typeOf } from "../shared/hosted-tools.ts";
import { countOf } from "../shared/json.ts";

/** The most searches of the web. */
export function toolsMax(body: JsonObject): { toolUnits?: Usage } {
  const searches = toolsOf(body).some((tool) => typeOf(tool) === "web_search");
  const toolUnits = counted({ webSearches: searches ? runsMax(body["max_tool_calls"]) : 0 });
  return Object.keys(toolUnits).length === 0 ? {} : { toolUnits };
}

/** The searches that an answer's usage counts. */
export function readTools({ usage }: JsonObject): { usage: Usage } {
  return { usage: counted({ webSearches: countOf(objectOf(objectOf(usage)?.["tool_usage"])?.["web_search"]) }) };
}
