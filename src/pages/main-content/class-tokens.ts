import type { Element } from "domhandler";

const tokensMax = 12;
const charactersMax = 300;
const none: readonly string[] = [];

/** Reads the words of class, id, role and itemprop: `postBody-12 js-item` gives post, body, js, item. Remembers the results. */
export class ClassTokens {
  readonly #known = new Map<string, readonly string[]>();

  of({ attribs }: Element): readonly string[] {
    const { class: names, id, role, itemprop } = attribs;
    if (names === undefined && id === undefined && role === undefined && itemprop === undefined) return none;
    const raw = `${names ?? ""} ${id ?? ""} ${role ?? ""} ${itemprop ?? ""}`.slice(0, charactersMax);
    const known = this.#known.get(raw);
    if (known !== undefined) return known;
    const tokens = split(raw);
    this.#known.set(raw, tokens);
    return tokens;
  }
}

function split(raw: string): readonly string[] {
  const found = new Set<string>();
  for (const [word] of raw.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g)) {
    if (word.length < 2 || word.length > 20) continue;
    found.add(word.toLowerCase());
    if (found.size === tokensMax) break;
  }
  return [...found];
}
