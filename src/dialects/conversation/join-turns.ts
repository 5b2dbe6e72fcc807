import type { Turn } from "./conversation.ts";
import type { Part } from "./parts.ts";

/**
 * Joins consecutive messages of an assistant into one turn, for a dialect with thoughts, text and calls in one message:
 * other dialects may split them.
 */
export function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  /** The parts of the last turn, once it was joined from several. */
  let parts: Part[] | undefined;
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === "assistant" && last?.role === "assistant") {
      if (parts === undefined) {
        parts = [...last.parts];
        joined[joined.length - 1] = { ...last, parts };
      }
      // Part by part: a copy of the turn for each message would take minutes for a hundred thousand of them.
      if (parts.at(-1)?.kind === "text" && turn.parts[0]?.kind === "text") parts.push(paragraph);
      for (const part of turn.parts) parts.push(part);
    } else {
      joined.push(turn);
      parts = undefined;
    }
  }
  return joined;
}

/** Between two messages. */
const paragraph: Part = { kind: "text", text: "\n\n" };
