/** Lists of tools as texts, which are made again only if one of their sources has changed. */

/** Characters of all texts together. The answers that are made of them take up to six times as much again. */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** The text of a JSON array of definitions, and the servers whose tools are missing. */
export interface Listing {
  tools: string;
  unavailable: readonly string[];
}

interface Known {
  sources: readonly unknown[];
  listing: Listing;
}

export class Listings {
  /** The one that was asked for last at the end. */
  readonly #known = new Map<string, Known>();
  #characters = 0;

  /** That of the key, made of the same `sources`, by identity. */
  async of(key: string, sources: readonly unknown[], make: () => Promise<Listing>): Promise<Listing> {
    const known = this.#known.get(key);
    if (known !== undefined && areSame(known.sources, sources)) {
      this.#known.delete(key);
      this.#known.set(key, known);
      return known.listing;
    }
    const listing = await make();
    this.#forget(key);
    this.#known.set(key, { sources, listing });
    this.#characters += listing.tools.length;
    for (const oldest of this.#known.keys()) {
      if (this.#characters <= CHARACTERS_MAX) break;
      this.#forget(oldest);
    }
    return listing;
  }

  #forget(key: string): void {
    this.#characters -= this.#known.get(key)?.listing.tools.length ?? 0;
    this.#known.delete(key);
  }
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}
