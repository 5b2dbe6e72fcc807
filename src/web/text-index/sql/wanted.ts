/** The parts of a query as the index has them. */
import { addressPart } from "../../search/passes.ts";
import type { SearchQuery, SearchTerm } from "../../search/query.ts";
import { wordsOf } from "../../search/words.ts";
import { nearWords } from "../near-words.ts";
import { stemsOfWord } from "../stems.ts";
import { phrasesOf } from "./rows.ts";

/** The words that most pages contain: they find nothing, and cost most. */
const COMMON = new Set(
  "a an and are as at be by for from how in is it of on or that the this to was what when where which who why will with".split(
    " ",
  ),
);

/** A plain word of a query: a page has it by any of these. */
export interface WantedWord {
  /** In words of the index: several if it consists of several, such as node.js or a Chinese word, which then is a phrase. */
  spellings: readonly (readonly string[])[];
  /** With their language, as `language:stem`. */
  stems: readonly string[];
}

export interface Wanted {
  words: readonly WantedWord[];
  phrases: readonly (readonly string[])[];
}

/** The plain words of a query that decide, all of them if it has nothing else, and the phrases that all results have. */
export function wantedOf({ words, phrases }: SearchQuery): Wanted {
  const wanted = unique(words.flatMap(wantedWord));
  const required = phrasesOf(phrases);
  const decisive = wanted.filter(({ spellings: [first = []] }) => first.length > 1 || !COMMON.has(first[0] ?? ""));
  return { words: decisive.length + required.length > 0 ? decisive : wanted, phrases: required };
}

/** Each word once, however it is written. */
function unique(words: readonly WantedWord[]): WantedWord[] {
  return [...new Map(words.map((word) => [word.spellings.flat().join(" "), word])).values()];
}

export function wantedWord(text: string): WantedWord[] {
  const words = wordsOf(text);
  return words.length === 0 ? [] : [{ spellings: [words], stems: stemsOfWord(text) }];
}

/** Words of a query that are also looked for with another letter: each means some hundred look-ups in the index. */
const NEAR_MAX = 8;

/** The words of a query, each also with one letter off; undefined if none has others. */
export function withNearWords(words: readonly WantedWord[]): WantedWord[] | undefined {
  const wider = words.slice(0, NEAR_MAX).map((word) => {
    const near = word.spellings.flatMap(([first = "", ...more]) => (more.length === 0 ? nearWords(first) : []));
    return { ...word, spellings: [...word.spellings, ...near.map((each) => [each])] };
  });
  return wider.some(({ spellings }) => spellings.length > 1) ? [...wider, ...words.slice(NEAR_MAX)] : undefined;
}

/** What neither engine's index of words decides: for the terms that it does, `compile` gives a condition on the index. */
export function conditionsOf(
  { addresses, excludedAddresses, alternatives, since, until }: SearchQuery,
  compile: (term: SearchTerm) => string,
) {
  const parts = (terms: readonly SearchTerm[]) =>
    terms.map((term) => (isAddress(term) ? { address: addressPart(term.text) } : { index: compile(term) }));
  return {
    /** Lists of which one condition holds each, as JSON: of one with an address the index decides nothing. */
    lists: JSON.stringify([
      ...addresses.map((address) => [{ address: addressPart(address) }]),
      ...alternatives.filter((terms) => terms.some(isAddress)).map(parts),
    ]),
    without: JSON.stringify(excludedAddresses.map(addressPart)),
    since: since ?? 0,
    until: until ?? Number.MAX_SAFE_INTEGER,
  };
}

function isAddress({ kind }: SearchTerm): boolean {
  return kind === "address";
}

/** The alternatives that the index of words decides. */
export function indexedAlternatives({ alternatives }: SearchQuery): readonly (readonly SearchTerm[])[] {
  return alternatives.filter((terms) => !terms.some(isAddress));
}
