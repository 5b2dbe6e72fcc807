import {
  addUsage,
  generatedImageTokens,
  type JsonObject,
  listOf,
  type ModelUsage,
  objectOf,
  type ObservedUsage,
  pixelsOf,
  type Usage,
} from "../../core/index.ts";
import type { RequestedExtras } from "../provider.ts";
import { counted, runsMax, toolsOf, typeOf } from "../shared/hosted-tools.ts";
import { countOf, textOf } from "../shared/json.ts";
import { AUTO_PIXELS, imageUsageMax, PREVIEW_TOKENS, readImagesUsage } from "./images.ts";

/** The image model of the hosted tool if the request names none (OpenAI's specification of Responses). */
const IMAGE_MODEL = "gpt-image-1";

/** Images that are held for a request that does not limit its tools. */
const IMAGES_ASSUMED = 2;

/** Gigabytes of memory of a container: 1, 4, 16 or 64 (OpenAI's guide "Code Interpreter"). */
function memoryOf({ container }: JsonObject): number {
  const [, gigabytes] = /^(\d{1,3})g$/.exec(textOf(objectOf(container)?.["memory_limit"]) ?? "") ?? [];
  return countOf(Number(gigabytes)) || 1;
}

const isSearch = (type: string): boolean => type.startsWith("web_search");
const runsCode = (type: string): boolean => type === "code_interpreter" || type === "shell";

/** The most that hosted tools may do. Tools without a fee of their own, such as MCP, only bring in input. */
export function toolsMax(body: JsonObject): Pick<RequestedExtras, "toolUnits" | "others"> {
  const runs = runsMax(body["max_tool_calls"]);
  const most: Usage = {};
  const others: ModelUsage[] = [];
  for (const tool of toolsOf(body)) {
    const type = typeOf(tool);
    if (isSearch(type)) most.webSearches = runs;
    else if (type === "file_search") most.storageSearches = runs;
    else if (runsCode(type)) most.containerGb = Math.max(most.containerGb ?? 0, memoryOf(tool));
    else if (type === "image_generation") others.push(imagesMax(tool, body));
  }
  const toolUnits = counted(most);
  return {
    ...(Object.keys(toolUnits).length === 0 ? {} : { toolUnits }),
    ...(others.length === 0 ? {} : { others }),
  };
}

function imagesMax(tool: JsonObject, { max_tool_calls }: JsonObject): ModelUsage {
  const model = imageModelOf(tool);
  const images =
    typeof max_tool_calls === "number" ? Math.min(countOf(max_tool_calls), IMAGES_ASSUMED) : IMAGES_ASSUMED;
  const each = imageUsageMax(tool, model)?.outputImage ?? 0;
  return { model, usage: { outputImage: each * images } };
}

function imageModelOf(tool: JsonObject): string {
  return textOf(tool["model"]) ?? IMAGE_MODEL;
}

/** What the hosted tools of a response have done: from `tool_usage` if that contains it, else from the items. */
export function readTools(response: JsonObject): Pick<ObservedUsage, "usage" | "others"> {
  const items = listOf(response["output"])
    .map(objectOf)
    .filter((item) => item !== undefined);
  const toolUsage = objectOf(response["tool_usage"]);
  const searches = objectOf(toolUsage?.["web_search"])?.["num_requests"];
  const tools = toolsOf(response);
  const usage = counted({
    webSearches: typeof searches === "number" ? countOf(searches) : items.filter(isSearchItem).length,
    storageSearches: items.filter(({ type }) => type === "file_search_call").length,
    containerGb: containersIn(items) * Math.max(...tools.filter((tool) => runsCode(typeOf(tool))).map(memoryOf), 1),
  });
  const image = tools.find((tool) => typeOf(tool) === "image_generation");
  const ofImages = readImagesUsage({ usage: toolUsage?.["image_gen"] })?.usage ?? estimatedImages(items, image);
  const { requests: _, ...tokens } = ofImages;
  if (Object.values(tokens).every((count) => count === 0)) return { usage };
  return { usage: addUsage(usage, tokens), others: [{ model: imageModelOf(image ?? {}), usage: tokens }] };
}

/** Pages that are opened after a search are not billed. */
function isSearchItem({ type, action }: JsonObject): boolean {
  return type === "web_search_call" && (objectOf(action)?.["type"] ?? "search") === "search";
}

function containersIn(items: readonly JsonObject[]): number {
  const ids = items.filter(({ type }) => type === "code_interpreter_call").map((item) => item["container_id"]);
  return new Set(ids).size;
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
