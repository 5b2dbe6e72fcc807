/** A query as text for an engine that knows its syntax. */
import type { SearchQuery, SearchTerm } from "./query.ts";

/** No word of it is a command of the engine: `!`, `:`, `?` and `<` at the beginning of a word are commands of SearXNG, and `!` of others. */
export function queryText(query: SearchQuery): string {
  return [
    ...query.words.map(plain),
    ...query.phrases.map((phrase) => `"${plainAll(phrase)}"`),
    ...query.alternatives.map(anyOf),
    ...query.excluded.map((text) => `-${quoted(plainAll(text))}`),
    ...query.titles.map((text) => `intitle:${quoted(plainAll(text))}`),
    ...query.excludedTitles.map((text) => `-intitle:${quoted(plainAll(text))}`),
    ...query.addresses.map((text) => `inurl:${quoted(plainAll(text))}`),
    ...query.excludedAddresses.map((text) => `-inurl:${quoted(plainAll(text))}`),
    ...sitesText(query.sites),
    ...query.excludedSites.map((site) => `-site:${site}`),
    ...query.filetypes.map((type) => `filetype:${type}`),
    ...query.excludedFiletypes.map((type) => `-filetype:${type}`),
  ]
    .filter(isAny)
    .join(" ");
}

function isAny(part: string): boolean {
  return !/^(?:-|""|-?(?:site|filetype|intitle|inurl):)?$/.test(part);
}

/** The days of a query as text for an engine that knows them. */
export function datesText({ since, until }: SearchQuery): string {
  return [
    ...(since === undefined ? [] : [`after:${day(since)}`]),
    ...(until === undefined ? [] : [`before:${day(until)}`]),
  ].join(" ");
}

function anyOf(terms: readonly SearchTerm[]): string {
  const texts = terms.map(termText).filter(isAny);
  return texts.length > 1 ? `(${texts.join(" OR ")})` : texts.join("");
}

const NAMES = { site: "site", filetype: "filetype", title: "intitle", address: "inurl" } as const;

function termText({ kind, text }: SearchTerm): string {
  if (kind === "word") return plain(text.replaceAll(/^\(+|\)+$/g, ""));
  if (kind === "phrase") return `"${plainAll(text)}"`;
  return `${NAMES[kind]}:${quoted(plainAll(text))}`;
}

/** A moment's day, `YYYY-MM-DD` in UTC. */
export function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
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
