import { type JsonObject, objectsOf, type Usage, type UsageBucket } from "../../../core/index.ts";
import type { ToolPurchase, ToolReader } from "../../tool-purchase.ts";
import { countOf } from "../json.ts";

/** The searches, or other runs of a hosted tool, that are held for a request without a limit of its own. */
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

/** The counts that are above zero. */
export function counted(counts: Partial<Record<UsageBucket, number>>): Usage {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** A tool without a fee of its own. */
export const free = (): ToolPurchase => ({});

/** A tool whose runs are counted in this unit, at most as many as the request's member for them allows. */
export function countedIn(bucket: UsageBucket, limitField = "max_tool_calls"): ToolReader {
  return (_tool, body) => ({ units: counted({ [bucket]: runsMax(body[limitField]) }) });
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
