/** The filters of a search query, parsed once for every back end: "a phrase", -term, site:, filetype:, intitle:. */

export interface SearchQuery {
  words: readonly string[];
  phrases: readonly string[];
  /** Words and phrases that a result must not contain. */
  excluded: readonly string[];
  /** A result is of one of these sites, if there are any, and of none of the others. */
  sites: readonly string[];
  excludedSites: readonly string[];
  /** Extensions, without their dot: a result has one of these, if there are any, and none of the others. */
  filetypes: readonly string[];
  excludedFiletypes: readonly string[];
  /** Words and phrases of the title. */
  titles: readonly string[];
}

/** A result of a back end. */
export interface SearchHit {
  url: string;
  title: string;
  description: string;
}

/** What separates words for an engine: more than the white space of a regular expression. */
const SEPARATORS = /[\s\p{Cc}]+/gu;

const PART = /(-)?(?:(site|filetype|ext|intitle):)?(?:"([^"]*)"|(\S+))/gi;

export function parseQuery(text: string): SearchQuery {
  const query: Record<keyof SearchQuery, string[]> = {
    words: [],
    phrases: [],
    excluded: [],
    sites: [],
    excludedSites: [],
    filetypes: [],
    excludedFiletypes: [],
    titles: [],
  };
  for (const [, minus, filter, phrase, bare] of text.replaceAll(SEPARATORS, " ").matchAll(PART)) {
    const value = (phrase ?? bare ?? "").trim();
    if (value === "") continue;
    const isNegative = minus !== undefined;
    // A filter without a value asks for nothing.
    const add = (wanted: string[], unwanted: string[], part: string): void => {
      if (wordsOf(part).length > 0) (isNegative ? unwanted : wanted).push(part);
    };
    switch (filter?.toLowerCase()) {
      case "site":
        add(query.sites, query.excludedSites, siteOf(value));
        break;
      case "filetype":
      case "ext":
        add(query.filetypes, query.excludedFiletypes, filetypeOf(value));
        break;
      case "intitle":
        add(query.titles, query.excluded, value);
        break;
      default:
        if (isNegative) add([], query.excluded, value);
        else (phrase === undefined ? query.words : query.phrases).push(value);
    }
  }
  return query;
}

/** A domain as people write it, with or without a scheme, a star, a port or a path, in the form that addresses have. */
export function siteOf(value: string): string {
  const name = value
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, "")
    .replace(/^(?:\*\.|\.|www\.)/, "")
    .replace(/[^\p{L}\p{M}\p{N}._-].*$/u, "")
    .replace(/\.$/, "");
  return URL.parse(`http://${name}`)?.hostname ?? name;
}

/** The extension of `.pdf`, `PDF` or `tar.gz`; empty if it is none. */
function filetypeOf(value: string): string {
  return /([a-z0-9]+)$/.exec(value.toLowerCase())?.[1] ?? "";
}

/** Whether a result passes the filters, judged by its address, title and description. */
export function passes(query: SearchQuery, { url, title, description }: SearchHit): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, protocol } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return false;
  const isOf = (site: string): boolean => isOnSite(hostname, site);
  if (query.sites.length > 0 && !query.sites.some(isOf)) return false;
  if (query.excludedSites.some(isOf)) return false;
  const extension = extensionOf(url);
  if (query.filetypes.length > 0 && !query.filetypes.includes(extension)) return false;
  if (query.excludedFiletypes.includes(extension)) return false;
  if (!query.titles.every((text) => contains(title, text))) return false;
  return !query.excluded.some((text) => contains(`${title}\n${description}`, text));
}

function isOnSite(hostname: string, site: string): boolean {
  const host = hostname.replace(/^www\./, "");
  return host === site || host.endsWith(`.${site}`);
}

/** The extension of an address's last segment, in lower case; empty without one. */
export function extensionOf(url: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? "";
}

/** Whether a text contains a word or phrase as whole words, whatever their case. */
function contains(text: string, part: string): boolean {
  const words = wordsOf(part);
  return words.length > 0 && ` ${wordsOf(text).join(" ")} `.includes(` ${words.join(" ")} `);
}

/** The letters of scripts that put no spaces between words, each with its marks: a word for itself. */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
const WORD = new RegExp(String.raw`${UNSPACED}\p{M}*|(?:(?!${UNSPACED})[\p{L}\p{N}\p{M}])+`, "gu");

const ASCII = /^[\0-\x7f]*$/;

/** The words of a text as they are compared: of any case, and without the accents of Latin, Greek and Cyrillic letters. */
export function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const bare = text.normalize("NFKD").replaceAll(/[\u0300-\u036f]+/g, "");
  // Lower case alone leaves ß beside ss.
  return bare.toUpperCase().toLowerCase().normalize("NFC").match(WORD) ?? [];
}

/**
 * The query as text for an engine that knows these filters. No word of it is a command of the engine: `!`, `:`, `?` and `<` at the
 * beginning of a word are commands of SearXNG, and `!` of others.
 */
export function queryText(query: SearchQuery): string {
  return [
    ...query.words.map(plain),
    ...query.phrases.map((phrase) => `"${plainAll(phrase)}"`),
    ...query.excluded.map((text) => `-${quoted(plainAll(text))}`),
    ...query.titles.map((text) => `intitle:${quoted(plainAll(text))}`),
    ...sitesText(query.sites),
    ...query.excludedSites.map((site) => `-site:${site}`),
    ...query.filetypes.map((type) => `filetype:${type}`),
    ...query.excludedFiletypes.map((type) => `-filetype:${type}`),
  ]
    .filter((part) => !/^(?:-|""|(?:site|filetype|intitle):)?$/.test(part))
    .join(" ");
}

function quoted(text: string): string {
  return /\s/.test(text) ? `"${text}"` : text;
}

function sitesText(sites: readonly string[]): string[] {
  if (sites.length < 2) return sites.map((site) => `site:${site}`);
  return [`(${sites.map((site) => `site:${site}`).join(" OR ")})`];
}

/** A word without what would make it a command. */
function plain(word: string): string {
  return word.replaceAll('"', "").replace(/^[!:?<\\]+/, "");
}

function plainAll(text: string): string {
  return text.split(/\s+/).map(plain).join(" ").trim();
}
