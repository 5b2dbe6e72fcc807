import { parseSync } from "oxc-parser";

/** A way of writing that a newcomer stumbles over, and how to find it in prose. */
export interface Habit {
  readonly name: string;
  readonly example: string;
  readonly pattern: RegExp;
  /**
   * The tolerated occurrences per 1,000 words: at most twice the count of kysely's comments (docs/decisions,
   * plain-english), and zero for words that have a plain equivalent.
   */
  readonly perThousandMax: number;
}

/** One counted habit. */
export interface HabitCount {
  readonly habit: Habit;
  readonly count: number;
  readonly perThousand: number;
  readonly isExceeded: boolean;
}

/** A file's prose, without code. */
export interface Prose {
  readonly path: string;
  readonly text: string;
}

/** One occurrence of a habit, with some words around it. */
export interface Occurrence {
  readonly path: string;
  readonly habit: Habit;
  readonly excerpt: string;
}

/** The habits that `npm run words` counts. */
export const habits: readonly Habit[] = [
  {
    name: 'conditional "where"',
    example: "undefined where there is none → undefined if there is none",
    pattern:
      /\bwhere (?:it|its|there|they|that|this|one|none|nothing|nobody|no|neither|both|all|each|some|the|an?)\b/gi,
    perThousandMax: 0.1,
  },
  {
    name: 'headless "what is/has"',
    example: "what is held → the held amount",
    pattern: /\bwhat (?:is|are|was|were|has|have|had)\b/gi,
    perThousandMax: 0.5,
  },
  {
    name: 'any "what"',
    example: "what the upstream sends → the upstream's reply",
    pattern: /\bwhat\b/gi,
    perThousandMax: 2.2,
  },
  {
    name: '"told", "tells", "says"',
    example: "the header tells the limit → the header contains the limit",
    pattern: /\b(?:tells?|told|telling|says?|said|saying)\b/gi,
    perThousandMax: 0.45,
  },
  {
    name: "private words",
    example: "anew → again, dearest → most expensive, mend → fix, aloud → explicitly",
    pattern: /\b(?:anew|aloud|dear|dearer|dearest|mends?|mended|mending|elsewhere|manieth|in company)\b/gi,
    perThousandMax: 0,
  },
];

const excerptCharacters = 40;

/** The prose of a file: of a document all text, of a source its comments; in both without code. */
export function proseOf(path: string, content: string): Prose {
  const text = path.endsWith(".md") ? content : commentsOf(path, content);
  return { path, text: withoutCode(text).replaceAll(/\s+/g, " ") };
}

/** Counts every habit over all of the given prose. */
export function countHabits(proses: readonly Prose[]): { words: number; counts: readonly HabitCount[] } {
  const words = proses.reduce((sum, { text }) => sum + text.split(" ").filter((word) => /\w/.test(word)).length, 0);
  const counts = habits.map((habit) => {
    const count = proses.reduce((sum, { text }) => sum + [...text.matchAll(habit.pattern)].length, 0);
    const perThousand = words === 0 ? 0 : (count / words) * 1000;
    return { habit, count, perThousand, isExceeded: perThousand > habit.perThousandMax };
  });
  return { words, counts };
}

/** Every occurrence of every habit in a file. */
export function findHabits({ path, text }: Prose): Occurrence[] {
  return habits.flatMap((habit) =>
    [...text.matchAll(habit.pattern)].map(({ index, 0: match }) => {
      const start = Math.max(0, index - excerptCharacters);
      return { path, habit, excerpt: text.slice(start, index + match.length + excerptCharacters).trim() };
    }),
  );
}

function commentsOf(path: string, source: string): string {
  const { comments } = parseSync(path, source);
  return comments.map(({ value }) => value.replaceAll(/^\s*\*+ ?/gm, "")).join("\n\n");
}

/** Code repeats names and wire formats, which are no prose. */
function withoutCode(text: string): string {
  return text.replaceAll(/```[^]*?```/g, "").replaceAll(/`[^`\n]*`/g, "code");
}
