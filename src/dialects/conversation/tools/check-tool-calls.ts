import type { Turn } from "../conversation.ts";
import type { Part } from "../parts.ts";
import { invalid } from "../read.ts";

/**
 * Throws for a result without a preceding call, and for two results of one call. Several calls may have the same id:
 * some models count them from zero in every answer.
 */
export function checkToolCalls(turns: readonly Turn[]): void {
  /** Calls without a result, by their ids. */
  const open = new Map<string, number>();
  for (const turn of turns) {
    for (const part of turn.parts) check(part, part.at ?? turn.at, open);
  }
}

function check(part: Part, at: string, open: Map<string, number>): void {
  if (part.kind !== "tool-call" && part.kind !== "tool-result") return;
  const { callId } = part;
  const calls = open.get(callId);
  if (part.kind === "tool-call") {
    open.set(callId, (calls ?? 0) + 1);
    return;
  }
  if (calls === undefined) throw invalid(at, `no tool call before it has the id ${shown(callId)}`);
  if (calls === 0) throw invalid(at, `the tool call ${shown(callId)} has a result already`);
  open.set(callId, calls - 1);
}

/** Ids come from clients and have any length. */
function shown(id: string): string {
  return JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);
}
