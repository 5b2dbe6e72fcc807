import { type JsonObject, listOf, objectOf, type Usage } from "../../core/index.ts";
import { counted, countedIn, free, toolReader, typeOf } from "../shared/tools/hosted-tools.ts";
import { countOf } from "../shared/json.ts";

/** Searches of the web and of X, and runs of code, cost the same (docs.x.ai, "Pricing"). */
const runs = /^(?:web_search(?:_preview)?|x_search|code_execution|code_interpreter)$/;
const searchesFiles = /^(?:file_search|collections_search)$/;

/** Tools without a fee of their own; images and videos are viewed as input. */
const others = /^(?:function|custom|mcp|view_image|view_x_video)$/;

/** The tools of xAI's Responses. */
export const readTool = toolReader([
  [others, free],
  [runs, countedIn("webSearches")],
  [searchesFiles, countedIn("storageSearches")],
]);

/**
 * What hosted tools have done, for an answer without the real price: `num_server_side_tools_used` counts all of them, the
 * items tell their kinds.
 */
export function readTools(response: JsonObject): { usage: Usage } {
  const types = listOf(response["output"]).map((item) => typeOf(objectOf(item) ?? {}).replace(/_call$/, ""));
  const storageSearches = types.filter((type) => searchesFiles.test(type)).length;
  const used = countOf(objectOf(response["usage"])?.["num_server_side_tools_used"]);
  return {
    usage: counted({
      webSearches: Math.max(used - storageSearches, types.filter((type) => runs.test(type)).length),
      storageSearches,
    }),
  };
}
