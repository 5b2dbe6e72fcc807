import type { Turn } from "./conversation.ts";
import type { Part } from "./parts.ts";

/**
 * Joins consecutive messages of an assistant into one turn, for a dialect with thoughts, text and calls in one message:
 * other dialects may split them.
 */
export function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === "assistant" && last?.role === "assistant") {
      const gap = last.parts.at(-1)?.kind === "text" && turn.parts[0]?.kind === "text" ? [paragraph] : [];
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...gap, ...turn.parts] };
    } else {
      joined.push(turn);
    }
  }
  return joined;
}

/** Between two messages. */
const paragraph: Part = { kind: "text", text: "\n\n" };
