/**
 * The addresses that a model may have opened: those that stand, whole, in a text that it has not written itself. A page that it has
 * read could otherwise make it open an address with something of the conversation in it.
 */
import { objectOf } from "../../core/index.ts";

const ADDRESS = /https?:\/\/[^\s<>"'`\\^{}|]{1,4000}/giu;

/** Characters that may follow an address in a text, and may be a part of it. */
const AFTER = /[)\].,;:!?*_~]$/;
const AFTER_MAX = 6;

export class GivenAddresses {
  readonly #known = new Set<string>();

  /** Adds all addresses in the strings of a value. */
  add(value: unknown): void {
    if (typeof value === "string") this.#addText(value);
    else if (Array.isArray(value)) for (const each of value) this.add(each);
    else for (const each of Object.values(objectOf(value) ?? {})) this.add(each);
  }

  has(address: string): boolean {
    const key = keyOf(address);
    return key !== undefined && this.#known.has(key);
  }

  /** With and without such characters: brackets of Markdown, the end of a sentence. */
  #addText(text: string): void {
    if (!text.includes("://")) return;
    for (const [found] of text.matchAll(ADDRESS)) {
      const bracket = found.search(/[)\]]/);
      if (bracket !== -1) this.#addOne(found.slice(0, bracket));
      this.#addOne(found);
      let rest = found;
      for (let times = 0; times < AFTER_MAX && AFTER.test(rest); times += 1) {
        rest = rest.slice(0, -1);
        this.#addOne(rest);
      }
    }
  }

  #addOne(address: string): void {
    const key = keyOf(address);
    if (key !== undefined) this.#known.add(key);
  }
}

/** The address as it is asked for; undefined for one that is none. The part after # never leaves the reader. */
function keyOf(address: string): string | undefined {
  const url = URL.parse(address.trim());
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url.href;
}
