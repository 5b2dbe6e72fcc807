/** The syntax of a search query, parsed once for every back end: words, phrases, exclusions, filters and alternatives. */
import { wordsOf } from "./words.ts";

/** One of several alternatives, as in `night OR intitle:sleeper`. */
export interface SearchTerm {
  kind: "word" | "phrase" | "site" | "filetype" | "title" | "address";
  text: string;
}

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
  excludedTitles: readonly string[];
  /** Parts of the address. */
  addresses: readonly string[];
  excludedAddresses: readonly string[];
  /** A result has at least one term of each list. */
  alternatives: readonly (readonly SearchTerm[])[];
  /** Milliseconds: a result is from this moment on, and from before that one. */
  since?: number;
  until?: number;
  /** Parts of the query that no back end knows, as they were written. */
  ignored: readonly string[];
}

/** A result of a back end. */
export interface SearchHit {
  url: string;
  title: string;
  description: string;
  /** Milliseconds: when it was published, or else read, if that is known. */
  datedAt?: number | undefined;
  /** Of a picture, or beside a piece of news. */
  image?: { url: string; width?: number | undefined; height?: number | undefined } | undefined;
}

/** What separates words for an engine: more than the white space of a regular expression. */
const SEPARATORS = /[\s\p{Cc}]+/gu;

const OPERATORS = {
  site: "site",
  filetype: "filetype",
  ext: "filetype",
  intitle: "title",
  allintitle: "title",
  inurl: "address",
  allinurl: "address",
  intext: "word",
  allintext: "word",
  after: "after",
  before: "before",
  related: "ignored",
  cache: "ignored",
  link: "ignored",
  info: "ignored",
  inanchor: "ignored",
  allinanchor: "ignored",
  imagesize: "ignored",
  larger: "ignored",
} as const;

type Operator = (typeof OPERATORS)[keyof typeof OPERATORS];

const PART = new RegExp(
  String.raw`(?<minus>-)?(?:(?<name>${Object.keys(OPERATORS).join("|")}):)?(?:"(?<phrase>[^"]*)"|(?<word>\S+))`,
  "gi",
);

/** An operator with nothing after its colon: what follows the space is its value. */
const LONELY = new RegExp(String.raw`^-?(?:${Object.keys(OPERATORS).join("|")}):$`, "i");

interface Part {
  written: string;
  isNegative: boolean;
  operator: Operator | undefined;
  text: string;
  isPhrase: boolean;
  /** Whether it and the part before are alternatives. */
  isAlternative: boolean;
}

/** Parses a query. Nothing in it is an error: a part that has no meaning is a word, or among the ignored ones. */
export function parseQuery(text: string): SearchQuery {
  const query = new QueryParts();
  const parts = partsOf(text.replaceAll(SEPARATORS, " "));
  for (let index = 0; index < parts.length;) {
    let end = index + 1;
    while (parts[end]?.isAlternative === true) end += 1;
    query.add(parts.slice(index, end));
    index = end;
  }
  return query.parts;
}

function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let isAlternative = false;
  // An operator such as allintitle: is that of all words after it.
  let lasting: Operator | undefined;
  for (const { 0: written, groups = {} } of joinedOperators(text).matchAll(PART)) {
    const { minus, name, phrase, word = "" } = groups;
    if (minus === undefined && name === undefined && (word === "OR" || /^\|+$/.test(word))) {
      isAlternative = parts.length > 0;
      continue;
    }
    const operator = name === undefined ? lasting : operatorOf(name);
    if (name !== undefined) lasting = /^allin/i.test(name) ? operator : undefined;
    const value = (phrase ?? word).trim();
    if (value === "" || /^[()]+$/.test(value)) continue;
    const isNegative = minus !== undefined;
    parts.push({
      written,
      isNegative,
      operator,
      text: value,
      isPhrase: phrase !== undefined,
      isAlternative: isAlternative && !isNegative && parts.at(-1)?.isNegative === false,
    });
    isAlternative = false;
  }
  return parts;
}

/** `a|b` is `a | b`, and `intitle: x` is `intitle:x`, outside of quotes. */
function joinedOperators(text: string): string {
  const pieces = text.match(/"[^"]*"|[^"]+|"/g) ?? [];
  return pieces.map((piece, index) => joinedOf(piece, pieces[index + 1])).join("");
}

function joinedOf(piece: string, quoted = ""): string {
  if (piece.startsWith('"')) return piece;
  return piece
    .replaceAll("|", " | ")
    .replaceAll(/(\S+:) +(?=(\S+)|$)/g, (whole, operator: string, next: string | undefined) =>
      LONELY.test(operator) && isValueOf(operator, next ?? quoted) ? operator : whole,
    );
}

/** Whether it is a filter's value: a colon with a space after it may also be one of a sentence. */
function isValueOf(operator: string, next: string): boolean {
  switch (operatorOf(operator.replaceAll(/^-|:$/g, ""))) {
    case "site":
      return next.includes(".");
    case "after":
    case "before":
      return dayOf(next) !== undefined;
    case "ignored":
      return false;
    default:
      return wordsOf(next).length > 0;
  }
}

function operatorOf(name: string): Operator | undefined {
  return Object.entries(OPERATORS).find(([known]) => known === name.toLowerCase())?.[1];
}

type Lists = Record<Exclude<keyof SearchQuery, "alternatives" | "since" | "until">, string[]>;

function emptyLists(): Lists {
  return {
    words: [],
    phrases: [],
    excluded: [],
    sites: [],
    excludedSites: [],
    filetypes: [],
    excludedFiletypes: [],
    titles: [],
    excludedTitles: [],
    addresses: [],
    excludedAddresses: [],
    ignored: [],
  };
}

class QueryParts {
  readonly parts: Lists & { alternatives: SearchTerm[][]; since?: number; until?: number } = {
    ...emptyLists(),
    alternatives: [],
  };

  /** Adds one part, or several that are alternatives. */
  add(parts: readonly Part[]): void {
    const terms = parts.flatMap((part) => termOf(part) ?? []);
    const [first] = parts;
    if (first !== undefined && parts.length === 1) {
      if (first.operator === "ignored") this.parts.ignored.push(first.written);
      else if (first.operator === "after" || first.operator === "before") this.#addDate(first);
      else if (terms[0] !== undefined) this.#addTerm(terms[0], first.isNegative);
      return;
    }
    const kinds = new Set(terms.map(({ kind }) => kind));
    // Sites and extensions are alternatives by themselves.
    if (terms.length === 1 || (kinds.size === 1 && (kinds.has("site") || kinds.has("filetype"))))
      for (const term of terms) this.#addTerm(term, false);
    else if (terms.length > 1) this.parts.alternatives.push(terms);
    for (const part of parts.filter(({ operator }) => !isTermOperator(operator))) this.add([part]);
  }

  #addTerm({ kind, text }: SearchTerm, isNegative: boolean): void {
    const { parts } = this;
    switch (kind) {
      case "site":
        (isNegative ? parts.excludedSites : parts.sites).push(text);
        break;
      case "filetype":
        (isNegative ? parts.excludedFiletypes : parts.filetypes).push(text);
        break;
      case "title":
        (isNegative ? parts.excludedTitles : parts.titles).push(text);
        break;
      case "address":
        (isNegative ? parts.excludedAddresses : parts.addresses).push(text);
        break;
      default:
        // A word without a letter excludes nothing.
        if (!isNegative) (kind === "word" ? parts.words : parts.phrases).push(text);
        else if (wordsOf(text).length > 0) parts.excluded.push(text);
    }
  }

  #addDate({ operator, text, written, isNegative }: Part): void {
    const { parts } = this;
    const at = isNegative ? undefined : dayOf(text);
    if (at === undefined) parts.ignored.push(written);
    else if (operator === "after") parts.since = Math.max(at, parts.since ?? at);
    else parts.until = Math.min(at, parts.until ?? at);
  }
}

function isTermOperator(operator: Operator | undefined): operator is Exclude<SearchTerm["kind"], "phrase"> | undefined {
  return operator !== "ignored" && operator !== "after" && operator !== "before";
}

/** Undefined for a filter without a value and a phrase without a word, which ask for nothing. */
function termOf({ operator, text, isPhrase }: Part): SearchTerm | undefined {
  if (!isTermOperator(operator)) return undefined;
  if (operator === undefined || operator === "word") {
    if (!isPhrase) return { kind: "word", text };
    return wordsOf(text).length > 0 ? { kind: "phrase", text } : undefined;
  }
  const value = operator === "site" ? siteOf(text) : operator === "filetype" ? filetypeOf(text) : text;
  return wordsOf(value).length > 0 ? { kind: operator, text: value } : undefined;
}

/** The beginning of a day `YYYY-MM-DD` in UTC; undefined if there is none. */
function dayOf(text: string): number | undefined {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Some dates that no month has are those of the next one.
  return Number.isNaN(at) || !new Date(at).toISOString().startsWith(text) ? undefined : at;
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
  return /([a-z0-9]+)\)?$/.exec(value.toLowerCase())?.[1] ?? "";
}
