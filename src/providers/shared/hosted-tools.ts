import { type JsonObject, listOf, objectOf, type Usage, type UsageBucket } from "../../core/index.ts";
import { countOf } from "./json.ts";

/** The searches, or other runs of a hosted tool, that are held for a request without a limit of its own. */
const TOOL_RUNS_ASSUMED = 10;

/** The tools of a request. */
export function toolsOf({ tools }: JsonObject): JsonObject[] {
  return listOf(tools)
    .map(objectOf)
    .filter((tool) => tool !== undefined);
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
