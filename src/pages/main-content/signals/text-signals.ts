import type { Block } from "../blocks.ts";
import { share, type Signal } from "./signal.ts";

/** The look of the words of a block. */
export const textSignals: readonly Signal[] = [
  { name: "words", of: ({ facts }) => Math.log1p(facts.words) },
  { name: "word-length", of: ({ facts }) => share(facts.characters, facts.words) },
  { name: "links", of: ({ linkWords, facts }) => share(linkWords, facts.words) },
  { name: "sentences", of: ({ facts }) => facts.sentenceEnds },
  { name: "closed", of: ({ facts }) => facts.closed },
  { name: "capitalised", of: ({ facts }) => share(facts.capitalised, facts.words) },
  { name: "shouted", of: ({ facts }) => share(facts.shouted, facts.words) },
  { name: "digits", of: ({ facts }) => share(facts.withDigits, facts.words) },
  { name: "money", of: ({ facts }) => facts.money },
  { name: "commas", of: ({ facts }) => share(facts.commas, facts.words) },
  { name: "function-words", of: ({ facts }) => share(facts.functionWords, facts.words) },
  { name: "separators", of: ({ facts }) => facts.separators },
  { name: "text-repeats", of: ({ text }, { repeats }) => repeats.get(text.trim()) ?? 1 },
  { name: "title-overlap", of: (block, { titleWords }) => overlap(block, titleWords) },
  { name: "description-overlap", of: (block, { descriptionWords }) => overlap(block, descriptionWords) },
];

function overlap({ folded }: Block, words: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  let both = 0;
  for (const word of folded) if (words.has(word)) both += 1;
  return (2 * both) / (folded.length + words.size);
}
