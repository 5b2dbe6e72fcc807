import {
  addUsage,
  GatewayError,
  type HelperModel,
  type JsonObject,
  keysOf,
  listOf,
  type ModelUsage,
  objectOf,
  type Usage,
  usageBuckets,
} from "../core/index.ts";
import type { RequestedExtras, RunLimit, ToolPurchase } from "../providers/index.ts";
import { coversEverything, isToolPriced } from "./require-prices.ts";
import { quoted, type Target } from "./router.ts";

/** The runs that are held, and allowed, of hosted tools that a request does not limit. */
const TOOL_RUNS = 3;

/** The purchases of a request's tools, and the tools that its upstream does not get. */
export interface OfferedTools {
  extras: Pick<RequestedExtras, "toolUnits" | "others" | "helpers" | "toolRuns">;
  /** The places in the list of the tools that are left out. */
  left: readonly number[];
  /** Their names, for the client's header. */
  leftNames: readonly string[];
  /** Their places, and the field that limits their runs, of the tools that the request does not limit. */
  unlimited: readonly UnlimitedTool[];
}

interface UnlimitedTool {
  index: number;
  limit: RunLimit;
}

interface OfferedTool {
  index: number;
  tool: JsonObject;
  purchase: ToolPurchase;
}

/**
 * Reads the tools of a body in the upstream's dialect. One that nobody here knows, or whose unit has no price, is left out
 * if the model merely may use it: agents offer hosted tools with every request. Throws 422 if the body demands it. Returns
 * undefined for a body whose tools buy nothing.
 */
export function offeredTools({ operation, price, model }: Target, body: JsonObject): OfferedTools | undefined {
  const { readTool } = operation;
  const tools = listOf(body["tools"]);
  if (readTool === undefined || tools.length === 0) return undefined;
  const kept: OfferedTool[] = [];
  const missing: JsonObject[] = [];
  const left: number[] = [];
  const isCovered = coversEverything(price);
  for (const [index, each] of tools.entries()) {
    const tool = objectOf(each);
    if (tool === undefined) continue;
    const purchase = readTool(tool, body, model);
    if (
      purchase !== undefined &&
      (isCovered || keysOf(purchase.units ?? {}).every((unit) => isToolPriced(price, unit)))
    ) {
      kept.push({ index, tool, purchase });
    } else {
      missing.push(tool);
      left.push(index);
    }
  }
  if (left.length === 0 && kept.every(({ purchase }) => isNothing(purchase))) return undefined;
  const leftNames = [...new Set(missing.map(toolName))];
  if (isDemanded(body["tool_choice"], missing, kept.length)) throw demanded(leftNames);
  const unlimited = kept.flatMap(({ index, purchase: { limit } }) => (limit === undefined ? [] : [{ index, limit }]));
  return { extras: extrasOf(kept), left, leftNames, unlimited };
}

function extrasOf(kept: readonly OfferedTool[]): OfferedTools["extras"] {
  const isUnlimited = ({ purchase }: OfferedTool): boolean => purchase.limit !== undefined;
  const limited = boughtTogether(kept.filter((each) => !isUnlimited(each)));
  if (!kept.some(isUnlimited)) return limited;
  return { ...limited, toolRuns: { most: TOOL_RUNS, each: boughtTogether(kept.filter(isUnlimited)) } };
}

function isNothing({ units, others, helper }: ToolPurchase): boolean {
  return others === undefined && helper === undefined && (units === undefined || keysOf(units).length === 0);
}

/** The most that tools may buy together: tools of the same type share their runs. */
function boughtTogether(tools: readonly OfferedTool[]): OfferedTools["extras"] {
  const byType = new Map<unknown, Usage>();
  const others: ModelUsage[] = [];
  const helpers: HelperModel[] = [];
  for (const { tool, purchase } of tools) {
    const { units, helper } = purchase;
    if (helper !== undefined) helpers.push(helper);
    if (units !== undefined) byType.set(tool["type"], mostOf(byType.get(tool["type"]) ?? {}, units));
    others.push(...(purchase.others ?? []));
  }
  const toolUnits = [...byType.values()].reduce(addUsage, {});
  return {
    ...(keysOf(toolUnits).length === 0 ? {} : { toolUnits }),
    ...(others.length === 0 ? {} : { others }),
    ...(helpers.length === 0 ? {} : { helpers }),
  };
}

function mostOf(first: Usage, second: Usage): Usage {
  const most: Usage = {};
  for (const bucket of usageBuckets) {
    const units = Math.max(first[bucket] ?? 0, second[bucket] ?? 0);
    if (units > 0) most[bucket] = units;
  }
  return most;
}

/** The type of a hosted tool; some have a single member instead, named like the tool. */
function toolName(tool: JsonObject): string {
  const { type, function: own } = tool;
  const name = objectOf(own)?.["name"] ?? type ?? Object.keys(tool)[0];
  return typeof name === "string" ? quoted(name).slice(1, -1) : "unknown";
}

/** Whether the choice of tools, of any dialect, leaves the model no way without one of the missing tools. */
function isDemanded(choice: unknown, missing: readonly JsonObject[], others: number): boolean {
  if (missing.length === 0) return false;
  if (choice === "required") return others === 0;
  const details = objectOf(choice);
  if (details === undefined) return false;
  if (details["type"] === "any") return others === 0;
  const allowed = objectOf(details["allowed_tools"]) ?? details;
  const named = [details, ...listOf(allowed["tools"]).map((each) => objectOf(each) ?? {})];
  return missing.some((tool) => named.some((one) => isSameTool(one, tool)));
}

const nameOf = ({ name, function: own }: JsonObject): unknown => name ?? objectOf(own)?.["name"];

function isSameTool(named: JsonObject, tool: JsonObject): boolean {
  return named["type"] === tool["type"] || (nameOf(named) !== undefined && nameOf(named) === nameOf(tool));
}

function demanded(names: readonly string[]): GatewayError {
  const message = `tool_choice: ${names.join(", ")} would have to run at the provider, and there is no price for that here. Let the model choose (auto), or offer a function.`;
  return new GatewayError("validation_failed", message, { param: "tool_choice" });
}
