/**
 * Finds the addresses in a sitemap while it arrives (sitemaps.org: XML, an index of sitemaps, or one address a line). It looks
 * for `<loc>` only, so that its time is linear in the bytes and its memory bounded, whatever a site sends.
 */

/** Characters of what is kept for the next piece: the beginning of a `<loc>` that is not complete. */
const LOC_CHARACTERS_MAX = 4_096;

/** Characters at the beginning that decide the kind of a document. */
const HEAD_CHARACTERS = 1_024;

const LOC =
  /<(?:[\w-]+:)?loc[^>]{0,200}>([^<]{0,4096}|\s{0,100}<!\[CDATA\[[^\]]{0,4096}\]\]>\s{0,100})<\/(?:[\w-]+:)?loc\s*>/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

export class SitemapScanner {
  #isIndex = false;
  #isText = false;
  #rest = "";
  #hasBegun = false;

  /** Whether the addresses are those of further sitemaps. */
  get isIndex(): boolean {
    return this.#isIndex;
  }

  /** The addresses that this piece completes, as they are written. */
  scan(piece: string): string[] {
    this.#rest += piece;
    if (!this.#hasBegun && this.#rest.length < HEAD_CHARACTERS) return [];
    this.#begin();
    return this.#isText ? this.#lines(false) : this.#locations();
  }

  /** The addresses in what remains. */
  end(): string[] {
    this.#begin();
    return this.#isText ? this.#lines(true) : this.#locations();
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const head = this.#rest.slice(0, HEAD_CHARACTERS).trimStart();
    this.#isIndex = /<(?:[\w-]+:)?sitemapindex[\s>]/i.test(head);
    this.#isText = /^\ufeff?https?:\/\//i.test(head);
  }

  #locations(): string[] {
    const found: string[] = [];
    let after = 0;
    for (const match of this.#rest.matchAll(LOC)) {
      found.push(textOf(match[1] ?? ""));
      after = match.index + match[0].length;
    }
    // A `<loc>` that has begun is complete with the next piece.
    this.#rest = this.#rest.slice(Math.max(after, this.#rest.length - LOC_CHARACTERS_MAX));
    return found;
  }

  #lines(isLast: boolean): string[] {
    const lines = this.#rest.split(/\r\n|\r|\n/);
    const rest = isLast ? "" : (lines.pop() ?? "");
    this.#rest = rest.length > LOC_CHARACTERS_MAX ? "" : rest;
    return lines.map((line) => line.trim()).filter((line) => line !== "");
  }
}

function textOf(raw: string): string {
  const data = /<!\[CDATA\[([^\]]*)\]\]>/.exec(raw);
  if (data !== null) return (data[1] ?? "").trim();
  return raw.trim().replaceAll(/&(amp|lt|gt|quot|apos);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
