import {
  addUsage,
  generatedImageTokens,
  type JsonObject,
  objectOf,
  objectsOf,
  type ObservedUsage,
  pixelsOf,
  type Usage,
} from "../../core/index.ts";
import {
  counted,
  free,
  inRuns,
  limitedIn,
  toolReader,
  type ToolRow,
  toolsOf,
  typeOf,
  isSearchItem,
} from "../shared/tools/hosted-tools.ts";
import { countOf, textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import type { ToolPurchase, ToolReader } from "../tool-purchase.ts";
import { AUTO_PIXELS, imageUsageMax, PREVIEW_TOKENS, readImagesUsage } from "./images.ts";

/** The image model of the hosted tool if the request names none (OpenAI's specification of Responses). */
const IMAGE_MODEL = "gpt-image-1";

/** Gigabytes of memory of a container by its name; without one it has the first (OpenAI's guide "Code Interpreter"). */
const memories: ReadonlyMap<unknown, number> = new Map([
  ["1g", 1],
  ["4g", 4],
  ["16g", 16],
  ["64g", 64],
]);

/** The tools that run code in containers, by the member that describes the container. */
const containerFields: Readonly<Record<string, string>> = { code_interpreter: "container", shell: "environment" };

/**
 * The name of the memory of the container that a tool may create; undefined if it names an existing one, or if the client
 * runs it: a shell without a container is the client's own.
 */
function memoryNameOf(tool: JsonObject): unknown {
  const type = typeOf(tool);
  const container = tool[containerFields[type] ?? ""];
  if (typeof container === "string") return undefined;
  const details = objectOf(container);
  if (type === "shell" && details?.["type"] !== "container_auto") return undefined;
  return details?.["memory_limit"] ?? "1g";
}

/** Searches of the web, with the date of a version or without. The preview has a price of its own. */
const search = /^web_search(?:_\d{4}_\d\d_\d\d)?$/;
const previewSearch = /^web_search_preview(?:_\d{4}_\d\d_\d\d)?$/;

const runsCode: ToolReader = (tool) => {
  const name = memoryNameOf(tool);
  const containerGb = name === undefined ? 0 : memories.get(name);
  if (containerGb !== undefined) return { units: counted({ containerGb }) };
  const shown = JSON.stringify(name).slice(0, 80);
  throw refusal("tools", `no price is known for the memory_limit ${shown} of ${typeOf(tool)}.`);
};

/** Tools without a fee of their own, such as MCP, only bring in input. */
const rows: readonly ToolRow[] = [
  [/^(?:function|custom|local_shell|apply_patch|computer|computer_use_preview)$/, free],
  [/^(?:mcp|tool_search|programmatic_tool_calling)$/, free],
  [/^namespace$/, (tool) => (toolsOf(tool).every((inner) => ownTools.has(typeOf(inner))) ? {} : undefined)],
  [search, limitedIn("webSearches")],
  [previewSearch, limitedIn("previewSearches")],
  [/^file_search$/, limitedIn("storageSearches")],
  [/^(?:code_interpreter|shell)$/, runsCode],
  [/^image_generation$/, drawsImages],
];

/** The types of tools within a namespace. */
const ownTools: ReadonlySet<string> = new Set(["function", "custom"]);

/** The tools of OpenAI's Responses (its SDK's `Tool`). */
export const readTool = toolReader(rows);

function drawsImages(tool: JsonObject, { max_tool_calls }: JsonObject): ToolPurchase {
  const model = imageModelOf(tool);
  const each = imageUsageMax(tool, model)?.outputImage ?? 0;
  return inRuns(max_tool_calls, (images) => ({ others: [{ model, usage: { outputImage: each * images } }] }));
}

function imageModelOf(tool: JsonObject): string {
  return textOf(tool["model"]) ?? IMAGE_MODEL;
}

/** What the hosted tools of a response have done: from `tool_usage` if that contains it, else from the items. */
export function readTools(response: JsonObject): Pick<ObservedUsage, "usage" | "others" | "containers"> {
  const items = objectsOf(response["output"]);
  const toolUsage = objectOf(response["tool_usage"]);
  const searches = objectOf(toolUsage?.["web_search"])?.["num_requests"];
  const tools = toolsOf(response);
  const searchBucket = tools.some((tool) => previewSearch.test(typeOf(tool))) ? "previewSearches" : "webSearches";
  const containers = containersIn(items, tools);
  const usage = counted({
    [searchBucket]: typeof searches === "number" ? countOf(searches) : items.filter(isSearchItem).length,
    storageSearches: items.filter(({ type }) => type === "file_search_call").length,
    containerGb: [...containers.values()].reduce((sum, memory) => sum + memory, 0),
  });
  const image = tools.find((tool) => typeOf(tool) === "image_generation");
  const ofImages = readImagesUsage({ usage: toolUsage?.["image_gen"] })?.usage ?? estimatedImages(items, image);
  const { requests: _, ...tokens } = ofImages;
  const begun = containers.size > 0 && { containers };
  if (Object.values(tokens).every((count) => count === 0)) return { usage, ...begun };
  return { usage: addUsage(usage, tokens), others: [{ model: imageModelOf(image ?? {}), usage: tokens }], ...begun };
}

/** The memory of the containers that an answer may have begun: each has that of the tool whose calls ran in it. */
function containersIn(items: readonly JsonObject[], tools: readonly JsonObject[]): Map<string, number> {
  const begun = new Map<string, number>();
  const given = new Set(tools.map(namedContainer));
  for (const item of items) {
    const type = typeOf(item).replace(/_call$/, "");
    const id = type === "shell" ? objectOf(item["environment"])?.["container_id"] : item["container_id"];
    if (!(type in containerFields) || typeof id !== "string" || given.has(id)) continue;
    const ofType = tools.filter((tool) => typeOf(tool) === type).map(memoryNameOf);
    const memory = Math.max(...ofType.map((name) => memories.get(name) ?? 1), 1);
    begun.set(id, Math.max(begun.get(id) ?? 0, memory));
  }
  return begun;
}

/** The id of the container that a tool of the request names. */
function namedContainer(tool: JsonObject): unknown {
  const container = tool[containerFields[typeOf(tool)] ?? ""];
  return objectOf(container)?.["container_id"] ?? container;
}

/** Tokens of images that are in the answer without a count. */
function estimatedImages(items: readonly JsonObject[], tool: JsonObject = {}): Usage {
  const images = items.filter(({ type, result }) => type === "image_generation_call" && typeof result === "string");
  const tokens = images.map((item) => {
    const pixels = pixelsOf(textOf(item["size"]) ?? textOf(tool["size"])) ?? AUTO_PIXELS;
    return generatedImageTokens(pixels, textOf(item["quality"]) ?? textOf(tool["quality"]) ?? "high");
  });
  const previews = images.length * countOf(tool["partial_images"]) * PREVIEW_TOKENS;
  return counted({ outputImage: tokens.reduce((sum, each) => sum + each, previews) });
}
