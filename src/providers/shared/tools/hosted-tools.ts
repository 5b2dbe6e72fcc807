import {
  fitsToolName,
  type JsonObject,
  type ModelFacts,
  objectOf,
  objectsOf,
  type Usage,
  type UsageBucket,
} from "../../../core/index.ts";
import type { RunLimit, ToolPurchase, ToolReader } from "../../tool-purchase.ts";
import { countOf } from "../json.ts";

/** The runs of a hosted tool that are held for a request without a limit, at an upstream that has no field for one. */
const TOOL_RUNS_ASSUMED = 10;

/** The objects in the list of tools of a request, or in another list. */
export function toolsOf({ tools }: JsonObject): JsonObject[] {
  return objectsOf(tools);
}

/** The type of a tool; the empty text if it has none. */
export function typeOf({ type }: JsonObject): string {
  return typeof type === "string" ? type : "";
}

/** The most runs of a tool: the request's own limit if it is a number, else as many as are assumed. */
export function runsMax(limit: unknown): number {
  return typeof limit === "number" ? countOf(limit) : TOOL_RUNS_ASSUMED;
}

/** Whether the model takes the name of a tool, or of a call; one without a name is left to the provider. */
export function fitsName(named: JsonObject | undefined, { toolNameMax }: ModelFacts): boolean {
  const name = named?.["name"];
  return toolNameMax === undefined || typeof name !== "string" || fitsToolName(name, toolNameMax);
}

/** The counts that are above zero. */
export function counted(counts: Partial<Record<UsageBucket, number>>): Usage {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** A tool without a fee of its own. */
export const free = (): ToolPurchase => ({});

/** Limits all hosted tools of a request together (OpenAI's and BytePlus's specifications of Responses). */
const limitOfAll: RunLimit = { field: "max_tool_calls", within: "body" };

/** The purchases of as many runs as the request's own limit allows; without one, of each run that the gateway allows. */
export function inRuns(
  own: unknown,
  purchaseOf: (runs: number) => ToolPurchase,
  limit: RunLimit = limitOfAll,
): ToolPurchase {
  return typeof own === "number" ? purchaseOf(countOf(own)) : { ...purchaseOf(1), limit };
}

/** A tool whose runs are counted in this unit, at an upstream that limits them. */
export function limitedIn(bucket: UsageBucket): ToolReader {
  return (_tool, { max_tool_calls }) => inRuns(max_tool_calls, (runs) => ({ units: counted({ [bucket]: runs }) }));
}

/** As `limitedIn`, at an upstream whose field for a limit is not known. */
export function countedIn(bucket: UsageBucket): ToolReader {
  return (_tool, { max_tool_calls }) => ({ units: counted({ [bucket]: runsMax(max_tool_calls) }) });
}

/** One row for each kind of tool: a pattern of its whole type, and the reader of its purchases. */
export type ToolRow = readonly [types: RegExp, reader: ToolReader];

/** Reads a tool by the first row whose pattern matches its type; undefined for one that no row knows. */
export function toolReader(rows: readonly ToolRow[]): ToolReader {
  return (tool, body, model) => {
    const type = typeOf(tool);
    return rows.find(([types]) => types.test(type))?.[1](tool, body, model);
  };
}

/** Whether an output item of Responses is a search: pages that are opened after one are not billed. */
export function isSearchItem({ type, action }: JsonObject): boolean {
  return type === "web_search_call" && (objectOf(action)?.["type"] ?? "search") === "search";
}
