import type { Turn } from "./conversation.ts";

/**
 * The turns with one system prompt, before all others, for a model that takes no other: a later one becomes part of the user's
 * turn before or after it, the last of all a user's turn of its own behind an answer; one that stands in no user's turn, as between
 * results of tools and the next answer, joins the first.
 * The turns themselves if they are so already.
 */
export function placeSystem(turns: readonly Turn[]): readonly Turn[] {
  if (turns.findLastIndex(isSystem) <= 0) return turns;
  const leading: Turn[] = [];
  const placed: Turn[] = [];
  /** Prompts before the user's next turn. */
  let waiting: Turn[] = [];
  for (const turn of turns) {
    const before = placed.at(-1);
    if (isSystem(turn)) {
      if (before === undefined) leading.push(turn);
      else if (before.role === "user") placed[placed.length - 1] = joined(before, [before, turn]);
      else waiting.push(turn);
      continue;
    }
    if (turn.role === "user") placed.push(joined(turn, [...waiting, turn]));
    else {
      leading.push(...waiting);
      placed.push(turn);
    }
    waiting = [];
  }
  const [next] = waiting;
  if (next !== undefined && placed.at(-1)?.role === "assistant")
    placed.push({ ...joined(next, waiting), role: "user" });
  else leading.push(...waiting);
  const [first] = leading;
  return first === undefined ? placed : [{ ...joined(first, leading), role: "system" }, ...placed];
}

function isSystem({ role }: Turn): boolean {
  return role === "system" || role === "developer";
}

function joined(turn: Turn, all: readonly Turn[]): Turn {
  return all.length === 1 ? turn : { ...turn, parts: all.flatMap(({ parts }) => parts) };
}
