/** Stems of words in the languages of pages: `trains` and `train` have one. */
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stopwords as dutchStops } from "@orama/stopwords/dutch";
import { stopwords as englishStops } from "@orama/stopwords/english";
import { stopwords as frenchStops } from "@orama/stopwords/french";
import { stopwords as germanStops } from "@orama/stopwords/german";
import { stopwords as italianStops } from "@orama/stopwords/italian";
import { stopwords as portugueseStops } from "@orama/stopwords/portuguese";
import { stopwords as russianStops } from "@orama/stopwords/russian";
import { stopwords as spanishStops } from "@orama/stopwords/spanish";
import { accentedWordsOf, bare } from "../search/words.ts";

interface Language {
  stem: (word: string) => string;
  /** Words that most texts of the language contain. */
  stops: ReadonlySet<string>;
  /** Stems of words that were asked for. */
  known: Map<string, readonly string[]>;
}

const language = (stem: Language["stem"], stops: readonly string[]): Language => ({
  stem,
  stops: new Set(stops),
  known: new Map(),
});

const LANGUAGES = new Map(
  Object.entries({
    de: language(german, germanStops),
    en: language(english, englishStops),
    es: language(spanish, spanishStops),
    fr: language(french, frenchStops),
    it: language(italian, italianStops),
    nl: language(dutch, dutchStops),
    pt: language(portuguese, portugueseStops),
    ru: language(russian, russianStops),
  }),
);

/** Letters of a word that has a stem: longer ones are no words. */
const LETTERS_MAX = 40;

/** Stems that are remembered for a language: one takes some microseconds. */
const KNOWN_MAX = 20_000;

/** Words of a text among which the common ones of languages are counted. */
const WORDS_LOOKED_AT = 1_000;

/** The part of a text that the common words of its language are, at least. */
const STOPS_MIN = 0.1;

/**
 * The stems of a text's words, each with the positions of its words from 1; none if its language is none of those known. `declared` is
 * the page's own word for its language, such as `de-AT`.
 */
export function stemsOfTexts(texts: readonly string[], declared: string | undefined): Map<string, number[]>[] {
  const all = texts.map(accentedWordsOf);
  const code = languageOf(declared, all.flat());
  const spoken = LANGUAGES.get(code ?? "");
  return all.map((words) => {
    const stems = new Map<string, number[]>();
    if (spoken === undefined) return stems;
    for (const [index, word] of words.entries()) {
      if (spoken.stops.has(word)) continue;
      for (const stem of stemsIn(spoken, word)) {
        const name = `${code}:${stem}`;
        const positions = stems.get(name);
        if (positions === undefined) stems.set(name, [index + 1]);
        else positions.push(index + 1);
      }
    }
    return stems;
  });
}

/** The stems that a word of a query has in each language, as `language:stem`. */
export function stemsOfWord(written: string): string[] {
  const [word, ...more] = accentedWordsOf(written);
  if (word === undefined || more.length > 0) return [];
  return [...LANGUAGES].flatMap(([code, spoken]) =>
    spoken.stops.has(word) ? [] : stemsIn(spoken, word).map((stem) => `${code}:${stem}`),
  );
}

/** Two if the word is written with accents: people leave them out. */
function stemsIn({ stem, known }: Language, word: string): readonly string[] {
  if (word.length > LETTERS_MAX || !/^\p{L}/u.test(word)) return [];
  let stems = known.get(word);
  if (stems === undefined) {
    const plain = bare(word);
    stems = [...new Set([bare(stem(word)), ...(plain === word ? [] : [bare(stem(plain))])])].filter(isOneWord);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(word, stems);
  }
  return stems;
}

function isOneWord(stem: string): boolean {
  return /^[\p{L}\p{N}\p{M}]+$/u.test(stem);
}

/** The declared language, or else that whose common words the text has. */
function languageOf(declared: string | undefined, words: readonly string[]): string | undefined {
  const code = declared?.slice(0, 2).toLowerCase() ?? "";
  if (/^[a-z]{2}(?![a-z])/i.test(declared ?? "") && LANGUAGES.has(code)) return code;
  const looked = words.slice(0, WORDS_LOOKED_AT);
  const counts = [...LANGUAGES].map(([name, { stops }]) => ({
    name,
    count: looked.filter((word) => stops.has(word)).length,
  }));
  const [best] = counts.toSorted((a, b) => b.count - a.count);
  return best !== undefined && best.count > looked.length * STOPS_MIN ? best.name : undefined;
}
