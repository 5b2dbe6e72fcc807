import { type JsonObject, limits, listOf, objectOf } from "../../../core/index.ts";

/** A response that nobody stores, as far as it is needed to continue it. */
interface Round {
  /** A stored response that it continued. */
  base: string | undefined;
  /** All inputs and outputs since. */
  items: readonly unknown[];
  bytes: number;
}

/** Responses that can be continued on one connection, the latest ones. */
const ROUNDS_MAX = 32;

/**
 * The items of one connection, from responses with `store: false`. They are continued by sending the items again: the
 * upstream does not know them.
 */
export class ConnectionHistory {
  readonly #rounds = new Map<string, Round>();
  #bytes = 0;

  /** The body with the items of the response that it continues, if that is one of this connection. */
  expand(body: JsonObject): JsonObject {
    const { previous_response_id: previous, ...rest } = body;
    const round = typeof previous === "string" ? this.#rounds.get(previous) : undefined;
    if (round === undefined) return body;
    const expanded = { ...rest, input: [...round.items, ...itemsOf(body["input"])] };
    return round.base === undefined ? expanded : { ...expanded, previous_response_id: round.base };
  }

  /** Remembers a response to an expanded body. */
  add(id: string, expanded: JsonObject, output: unknown): void {
    const base = expanded["previous_response_id"];
    const items = [...itemsOf(expanded["input"]), ...listOf(output).filter(canBeSentAgain)];
    const bytes = JSON.stringify(items).length;
    if (bytes > limits.expandedBytesMax) return;
    this.#rounds.set(id, { base: typeof base === "string" ? base : undefined, items, bytes });
    this.#bytes += bytes;
    for (const [oldest, round] of this.#rounds) {
      if (this.#rounds.size <= ROUNDS_MAX && this.#bytes <= limits.expandedBytesMax) break;
      this.#rounds.delete(oldest);
      this.#bytes -= round.bytes;
    }
  }
}

function itemsOf(input: unknown): readonly unknown[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return listOf(input);
}

/** An upstream finds a thought that it has not stored only in the item itself. */
function canBeSentAgain(item: unknown): boolean {
  const { type, encrypted_content: content } = objectOf(item) ?? {};
  return type !== "reasoning" || typeof content === "string";
}
