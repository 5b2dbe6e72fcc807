/**
 * The addresses that a model may have opened: those that stand, whole, in a text that it has not written itself. A page that it has
 * read could otherwise make it open an address with something of the conversation in it.
 */
import { objectOf, Slices } from "../../core/index.ts";

const SCHEME_END = "://";

/** Characters that end an address in a text, and the place between the text and the address of a link in Markdown. */
const END = /[\s<>"'`\\^{}|]|\]\(/;
const ADDRESS_CHARACTERS_MAX = 4_000;

/** Characters that may follow an address in a text, and may be a part of it. */
const AFTER = ")].,;:!?*_~";
const AFTER_MAX = 6;

/** Bounds of what is kept, and of what is compared for one address: beyond them an address counts as not given. */
const KEPT_MAX = 50_000;
const KEPT_CHARACTERS_MAX = 4_000_000;
const COMPARED_MAX = 6_000;

export class GivenAddresses {
  /** As they stand in the texts, with what follows them. */
  readonly #found = new Set<string>();
  #characters = 0;

  /** Adds all addresses in the strings of a value, with calls between them. */
  async add(value: unknown): Promise<void> {
    const slices = new Slices();
    const waiting: unknown[] = [value];
    while (waiting.length > 0) {
      const next = waiting.pop();
      if (typeof next === "string") await this.#addText(next, slices);
      // The first of them is taken next.
      else
        for (const each of Object.values(Array.isArray(next) ? next : (objectOf(next) ?? {})).toReversed())
          waiting.push(each);
      if (slices.isOver) await slices.next();
    }
  }

  has(address: string): boolean {
    const asked = urlOf(address);
    if (asked === undefined) return false;
    if (this.#found.has(address)) return true;
    let compared = 0;
    for (const found of this.#found) {
      if (compared > COMPARED_MAX) return false;
      if (!mayBeAt(found, asked.hostname)) continue;
      for (const each of readings(found)) {
        compared += 1;
        if (urlOf(each)?.href === asked.href) return true;
      }
    }
    return false;
  }

  async #addText(text: string, slices: Slices): Promise<void> {
    let next = 0;
    for (let at = text.indexOf(SCHEME_END); at !== -1; at = text.indexOf(SCHEME_END, next)) {
      next = at + SCHEME_END.length;
      if (slices.isOver) await slices.next();
      if (this.#found.size >= KEPT_MAX || this.#characters >= KEPT_CHARACTERS_MAX) return;
      const scheme = /https?$/i.exec(text.slice(Math.max(0, at - "https".length), at))?.[0];
      if (scheme === undefined) continue;
      const rest = text.slice(at, at + SCHEME_END.length + ADDRESS_CHARACTERS_MAX);
      const end = rest.search(END);
      const whole = end === -1 ? rest : rest.slice(0, end);
      // An address within the query of another one was not given by itself.
      next = at + whole.length;
      // A text of its own: a part of the page would keep the whole page in memory.
      const found = Buffer.from(scheme + whole).toString();
      if (this.#found.has(found)) continue;
      this.#found.add(found);
      this.#characters += found.length;
    }
  }
}

/** Whether the address may have this host, at first sight: hosts have other spellings. */
function mayBeAt(found: string, host: string): boolean {
  const from = found.indexOf(SCHEME_END) + SCHEME_END.length;
  if (found.slice(from, from + host.length).toLowerCase() === host) return true;
  const [authority = ""] = found.slice(from).split(/[/?#]/, 1);
  return /[^\w.:-]/.test(authority) || /[\d\]]$/.test(host);
}

/** The address with and without characters that may follow it: brackets of Markdown, the end of a sentence. */
function readings(found: string): string[] {
  const bracket = found.search(/[)\]]/);
  const all = bracket === -1 ? [found] : [found.slice(0, bracket), found];
  let rest = found;
  for (let times = 0; times < AFTER_MAX && AFTER.includes(rest.slice(-1)); times += 1) {
    rest = rest.slice(0, -1);
    all.push(rest);
  }
  return all;
}

/** The address as it is asked for; undefined for one that is none. The part after # never leaves the reader. */
function urlOf(address: string): URL | undefined {
  const url = URL.parse(address.trim());
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  url.hash = "";
  return url;
}
