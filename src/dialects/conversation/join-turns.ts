import type { Turn } from "./conversation.ts";

/**
 * What an assistant says in one go as one turn, for a dialect where its thoughts, its words and its calls stand in one
 * message: elsewhere they may come in pieces.
 */
export function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === "assistant" && last?.role === "assistant") {
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else {
      joined.push(turn);
    }
  }
  return joined;
}
