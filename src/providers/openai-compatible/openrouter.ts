import { type AlternativeModels, type JsonObject, listOf, objectOf, type Usage } from "../../core/index.ts";
import type { RequestedExtras, UpstreamOperation } from "../provider.ts";
import { type ChatEndpoint, tierExtras } from "../shared/chat-operation.ts";
import { readChatTool, refuseUnknownPurchases } from "../shared/tools/chat-purchases.ts";
import { type ChatUsageRules, openaiUsageRules, readChatUsage } from "../shared/chat-usage.ts";
import { counted, countedIn, free, toolReader } from "../shared/tools/hosted-tools.ts";
import { countOf } from "../shared/json.ts";
import { completionOperation } from "../shared/plain-operations.ts";
import { rerankOperation } from "../shared/rerank-operation.ts";
import { refusal } from "../shared/refusal.ts";
import { openrouterCost } from "./cost.ts";

export const openrouterUsage: ChatUsageRules = {
  ...openaiUsageRules,
  reportedCost: openrouterCost,
  toolUnits: readSearches,
  namesModel: true,
};

/** Searches by tools, and by plugins. They are part of the reported cost. */
function readSearches({ server_tool_use_details }: JsonObject): Usage {
  return counted({ webSearches: countOf(objectOf(server_tool_use_details)?.["web_search_requests"]) });
}

/** The results of a search whose price is that of one (openrouter.ai/docs, "Web Search"). */
const RESULTS_PER_SEARCH = 5;

/** Plugins that search nothing. Files that they read are part of the reported cost. */
const otherPlugins: ReadonlySet<unknown> = new Set([
  "auto-router",
  "context-compression",
  "file-parser",
  "moderation",
  "response-healing",
]);

/** Models that choose another one. */
const choosesModel = /^openrouter\/|@preset\//;

const buys = ["web_search_options", "plugins", "models"] as const;

/** The billed extras of a request, besides its tools (`docs/wire/others.md`). */
function extras(body: JsonObject, model: string): RequestedExtras | undefined {
  const tier = tierExtras(body);
  const webSearches = searchesOf(body, model);
  const alternatives = alternativesOf(body, model);
  if (tier === undefined && webSearches === 0 && alternatives === undefined) return undefined;
  return {
    ...tier,
    ...(webSearches === 0 ? {} : { fixedUnits: { webSearches } }),
    ...(alternatives && { alternatives }),
  };
}

function searchesOf(body: JsonObject, model: string): number {
  let searches = model.endsWith(":online") || objectOf(body["web_search_options"]) !== undefined ? 1 : 0;
  for (const [index, each] of listOf(body["plugins"]).entries()) {
    const { id, enabled, max_results } = objectOf(each) ?? {};
    if (enabled === false || otherPlugins.has(id)) continue;
    if (id !== "web") throw refusal(`plugins.${index}.id`, "nothing is known here of what this plugin costs.");
    searches = Math.max(searches, Math.ceil(countOf(max_results) / RESULTS_PER_SEARCH), 1);
  }
  return searches;
}

/** The models that are tried one after another; some leave the choice to OpenRouter. */
function alternativesOf({ models, preset }: JsonObject, model: string): AlternativeModels | undefined {
  const named = listOf(models).filter((each) => typeof each === "string");
  const router = [model, ...named].find((each) => choosesModel.test(each));
  const isPreset = preset !== undefined && preset !== null;
  if (named.length === 0 && router === undefined && !isPreset) return undefined;
  const chosenBy = isPreset ? "preset" : router && (router === model ? "model" : "models");
  const others = named.filter((each) => each !== model && !choosesModel.test(each));
  return { models: others.map((each) => ({ model: each })), ...(chosenBy !== undefined && { chosenBy }) };
}

/** Of the tools that OpenRouter runs, those that ask other models have no price here. */
const readTool = toolReader([
  [/^openrouter:web_search$/, countedIn("webSearches")],
  [/^openrouter:datetime$/, free],
  [/^/, readChatTool],
]);

export const openrouterPurchases: Pick<ChatEndpoint, "extras" | "buys" | "readTool"> = { extras, buys, readTool };

export const openrouterCompletion: UpstreamOperation = {
  ...completionOperation,
  extras(body, model) {
    refuseUnknownPurchases(body, buys);
    return extras(body, model);
  },
  readUsage: (answer) => readChatUsage(answer, openrouterUsage),
};

export const openrouterRerank: UpstreamOperation = rerankOperation({
  path: "/rerank",
  limit: "top_n",
  fields: undefined,
  takesTexts: false,
  namesDocuments: false,
  reportedCost: openrouterCost,
});
