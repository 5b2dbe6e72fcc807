/** Markdown links to sources in a text that streams: each is a citation, and stays in the text. */
import type { CitedSource, Sources } from "./sources.ts";

export interface LinkedSource {
  source: CitedSource;
  /** Of the link, in characters of the text. */
  start: number;
  end: number;
}

const LINK = /\[[^\][\n]{0,300}\]\((https?:\/\/[^\s()]{1,2000})\)/g;

/** The end of the text that may be the beginning of a link. */
const TAIL_CHARACTERS = 2_400;

export class LinkedText {
  readonly #sources: Sources;
  #tail = "";
  /** The characters before the tail. */
  #before = 0;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** The links that end in this piece. */
  push(text: string): LinkedSource[] {
    if (this.#sources.isEmpty) {
      this.#before += text.length;
      return [];
    }
    const seen = this.#tail.length;
    const all = this.#tail + text;
    const found = text.includes(")") ? this.#linksIn(all, seen) : [];
    const from = Math.max(0, all.length - TAIL_CHARACTERS);
    this.#tail = all.slice(from);
    this.#before += from;
    return found;
  }

  #linksIn(text: string, seen: number): LinkedSource[] {
    return [...text.matchAll(LINK)].flatMap(({ 0: link, 1: url = "", index }) => {
      const source = index + link.length <= seen ? undefined : this.#sources.withAddress(url);
      const start = this.#before + index;
      return source === undefined ? [] : [{ source, start, end: start + link.length }];
    });
  }
}
