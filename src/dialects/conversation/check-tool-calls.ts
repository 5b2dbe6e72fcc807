import type { Turn } from "./conversation.ts";
import type { Part } from "./parts.ts";
import { invalid } from "./read.ts";

/** Throws for a result without a preceding call, and for ids used by two calls or two results. */
export function checkToolCalls(turns: readonly Turn[]): void {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const turn of turns) {
    for (const part of turn.parts) check(part, part.at ?? turn.at, called, answered);
  }
}

function check(part: Part, at: string, called: Set<string>, answered: Set<string>): void {
  if (part.kind === "tool-call") {
    if (called.has(part.callId)) throw invalid(at, `${shown(part.callId)} is the id of another tool call`);
    called.add(part.callId);
  } else if (part.kind === "tool-result") {
    if (!called.has(part.callId)) throw invalid(at, `no tool call before it has the id ${shown(part.callId)}`);
    if (answered.has(part.callId)) throw invalid(at, `the tool call ${shown(part.callId)} has a result already`);
    answered.add(part.callId);
  }
}

/** Ids come from clients and have any length. */
function shown(id: string): string {
  return JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);
}
