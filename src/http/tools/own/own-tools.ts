/** All tools of the gateway itself, and how one is found, listed and called. */
import type { Principal } from "../../../auth/index.ts";
import type { JsonObject } from "../../../core/index.ts";
import type { ToolAnswer, ToolDefinition } from "../../../mcp/index.ts";
import { mayCall } from "../../../tools/index.ts";
import { budgetGet, jobGet, modelsList } from "./account-tools.ts";
import { inputSchema } from "./input-schema.ts";
import { audioTranscribe, imageEdit, imageGenerate, speechGenerate, videoGenerate } from "./media-tools.ts";
import type { OwnCall, OwnTool, ToolModels } from "./own-tool.ts";
import { chat, embed } from "./text-tools.ts";
import { webCrawl, webMap, webScrape, webSearch } from "./web-tools.ts";

const tools: readonly OwnTool[] = [
  webSearch,
  webScrape,
  webMap,
  webCrawl,
  imageGenerate,
  imageEdit,
  speechGenerate,
  audioTranscribe,
  videoGenerate,
  embed,
  chat,
  modelsList,
  budgetGet,
  jobGet,
];

const byName: ReadonlyMap<string, OwnTool> = new Map(tools.map((tool) => [tool.name, tool]));

export function isOwnTool(name: string): boolean {
  return byName.has(name);
}

/** The definitions, made once for each set of default models. */
const definitions = new WeakMap<ToolModels, readonly ToolDefinition[]>();

/** The tools that the caller may use. */
export function allowedDefinitions(models: ToolModels, principal: Principal): readonly ToolDefinition[] {
  return allDefinitions(models).filter(({ name }) => mayCall(principal, name));
}

function allDefinitions(models: ToolModels): readonly ToolDefinition[] {
  const made = definitions.get(models) ?? tools.map((tool) => definitionOf(tool, models));
  definitions.set(models, made);
  return made;
}

const searched = new WeakMap<ToolModels, ReadonlyMap<string, { definition: JsonObject }>>();

/** All of them, for the index of tools: the same map each time. */
export function searchedDefinitions(models: ToolModels): ReadonlyMap<string, { definition: JsonObject }> {
  const made =
    searched.get(models) ?? new Map(allDefinitions(models).map((each) => [each.name, { definition: { ...each } }]));
  searched.set(models, made);
  return made;
}

function definitionOf(tool: OwnTool, models: ToolModels): ToolDefinition {
  const { name, title, description, model, isReadOnly, isOpenWorld = false } = tool;
  const hasDefaultModel = model !== undefined && models[model] !== undefined;
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(tool, hasDefaultModel),
    annotations: {
      readOnlyHint: isReadOnly,
      ...(!isReadOnly && { destructiveHint: false }),
      openWorldHint: isOpenWorld,
    },
  };
}

/** Undefined if the caller has no such tool. Rejects with the `GatewayError` of its route. */
export function callOwnTool(call: OwnCall): Promise<ToolAnswer> | undefined {
  const tool = mayCall(call.principal, call.name) ? byName.get(call.name) : undefined;
  return tool?.call({ ...call, arguments: withModel(call, tool) });
}

/** An agent names no model, or an empty one, if it knows none. */
function withModel({ arguments: given, services }: OwnCall, { model }: OwnTool): JsonObject {
  const named = model === undefined ? undefined : services.mcp.models[model];
  return named === undefined || (given["model"] != null && given["model"] !== "") ? given : { ...given, model: named };
}
