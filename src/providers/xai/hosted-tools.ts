import { type JsonObject, listOf, objectOf, type Usage } from "../../core/index.ts";
import { counted, runsMax, toolsOf, typeOf } from "../shared/hosted-tools.ts";
import { countOf } from "../shared/json.ts";

const searchesFiles = (type: string): boolean => type === "file_search" || type === "collections_search";

/** Searches of the web and of X, and runs of code, cost the same (docs.x.ai, "Pricing"). */
const runs = (type: string): boolean => /^(?:web_search|x_search|code_execution|code_interpreter)/.test(type);

/** The most that hosted tools may do. */
export function toolsMax(body: JsonObject): { toolUnits?: Usage } {
  const types = toolsOf(body).map(typeOf);
  const most = runsMax(body["max_tool_calls"]);
  const toolUnits = counted({
    webSearches: types.filter(runs).length * most,
    storageSearches: types.filter(searchesFiles).length * most,
  });
  return Object.keys(toolUnits).length === 0 ? {} : { toolUnits };
}

/**
 * What hosted tools have done, for an answer without the real price: `num_server_side_tools_used` counts all of them, the
 * items tell their kinds.
 */
export function readTools(response: JsonObject): { usage: Usage } {
  const types = listOf(response["output"]).map((item) => typeOf(objectOf(item) ?? {}).replace(/_call$/, ""));
  const storageSearches = types.filter(searchesFiles).length;
  const used = countOf(objectOf(response["usage"])?.["num_server_side_tools_used"]);
  return {
    usage: counted({ webSearches: Math.max(used - storageSearches, types.filter(runs).length), storageSearches }),
  };
}
