import type { Turn } from "../conversation.ts";
import type { Part } from "../parts.ts";

/** The calls with one id that have no result yet, by their new ids. */
interface OpenCalls {
  /** The answer that they are part of. */
  answer: number;
  ids: string[];
}

/**
 * The turns with an id of its own for each call, for a dialect that demands it: a repeated id gets a number. Results are
 * matched with the calls of the last answer that has the id, in order. The turns themselves if no id is repeated.
 */
export function uniqueCallIds(turns: readonly Turn[]): readonly Turn[] {
  if (!repeatsIds(turns)) return turns;
  const renaming = new CallRenaming();
  return turns.map((turn) => renaming.rename(turn));
}

function repeatsIds(turns: readonly Turn[]): boolean {
  const seen = new Set<string>();
  let repeats = false;
  for (const { parts } of turns) {
    for (const part of parts) {
      if (part.kind !== "tool-call") continue;
      repeats ||= seen.has(part.callId);
      seen.add(part.callId);
    }
  }
  return repeats;
}

class CallRenaming {
  readonly #taken = new Set<string>();
  /** The number that the next call with a repeated id gets: counting up from 2 for each one would take quadratic time. */
  readonly #numbers = new Map<string, number>();
  readonly #open = new Map<string, OpenCalls>();
  /** Counts the answers, each of one or more turns of the assistant. */
  #answer = 0;
  #isAnswering = false;

  rename(turn: Turn): Turn {
    const answers = turn.role === "assistant";
    if (answers && !this.#isAnswering) this.#answer += 1;
    this.#isAnswering = answers;
    return { ...turn, parts: turn.parts.map((part) => this.#renamePart(part)) };
  }

  #renamePart(part: Part): Part {
    if (part.kind === "tool-call") return { ...part, callId: this.#begin(part.callId) };
    if (part.kind !== "tool-result") return part;
    const open = this.#open.get(part.callId);
    return { ...part, callId: open?.ids.shift() ?? part.callId };
  }

  #begin(id: string): string {
    let unique = id;
    let number = this.#numbers.get(id) ?? 2;
    for (; this.#taken.has(unique); number += 1) unique = `${id}_${number}`;
    this.#numbers.set(id, number);
    this.#taken.add(unique);
    const before = this.#open.get(id);
    // Those of an earlier answer will get no result any more.
    const open = before?.answer === this.#answer ? before : { answer: this.#answer, ids: [] };
    open.ids.push(unique);
    this.#open.set(id, open);
    return unique;
  }
}
