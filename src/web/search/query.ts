/** The filters of a search query, parsed once for every back end: "a phrase", -term, site:, filetype:, intitle:. */

export interface SearchQuery {
  words: readonly string[];
  phrases: readonly string[];
  /** Words and phrases that a result must not contain. */
  excluded: readonly string[];
  /** A result is of one of these sites, if there are any, and of none of the others. */
  sites: readonly string[];
  excludedSites: readonly string[];
  /** Extensions, without their dot. */
  filetypes: readonly string[];
  /** Words and phrases of the title. */
  titles: readonly string[];
}

/** A result of a back end. */
export interface SearchHit {
  url: string;
  title: string;
  description: string;
}

const PART = /(-)?(?:(site|filetype|ext|intitle):)?(?:"([^"]*)"|(\S+))/gi;

export function parseQuery(text: string): SearchQuery {
  const query = {
    words: [] as string[],
    phrases: [] as string[],
    excluded: [] as string[],
    sites: [] as string[],
    excludedSites: [] as string[],
    filetypes: [] as string[],
    titles: [] as string[],
  };
  for (const [, minus, filter, phrase, bare] of text.matchAll(PART)) {
    const value = (phrase ?? bare ?? "").trim();
    if (value === "") continue;
    const isNegative = minus !== undefined;
    switch (filter?.toLowerCase()) {
      case "site":
        (isNegative ? query.excludedSites : query.sites).push(hostOf(value));
        break;
      case "filetype":
      case "ext":
        if (!isNegative) query.filetypes.push(value.replace(/^\./, "").toLowerCase());
        break;
      case "intitle":
        (isNegative ? query.excluded : query.titles).push(value);
        break;
      default:
        if (isNegative) query.excluded.push(value);
        else (phrase === undefined ? query.words : query.phrases).push(value);
    }
  }
  return query;
}

/** A domain as people write it: with or without a scheme, a star or a path. */
function hostOf(value: string): string {
  return value
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, "")
    .replace(/^(?:\*\.|\.|www\.)/, "")
    .replace(/[/?#].*$/, "");
}

/** Whether a result passes the filters, judged by its address, title and description. */
export function passes(query: SearchQuery, { url, title, description }: SearchHit): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, protocol } = new URL(url);
  if (protocol !== "https:" && protocol !== "http:") return false;
  const isOf = (site: string): boolean => isOnSite(hostname, site);
  if (query.sites.length > 0 && !query.sites.some(isOf)) return false;
  if (query.excludedSites.some(isOf)) return false;
  if (query.filetypes.length > 0 && !query.filetypes.includes(extensionOf(url))) return false;
  if (!query.titles.every((text) => contains(title, text))) return false;
  return !query.excluded.some((text) => contains(`${title}\n${description}`, text));
}

function isOnSite(hostname: string, site: string): boolean {
  const host = hostname.replace(/^www\./, "");
  const name = site.replace(/:\d+$/, "");
  return host === name || host.endsWith(`.${name}`);
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

export function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
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
  ]
    .filter((part) => part !== "" && part !== "-" && part !== '""')
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
  return word.replace(/^[!:?<\\]+/, "").replaceAll('"', "");
}

function plainAll(text: string): string {
  return text.split(/\s+/).map(plain).join(" ").trim();
}
