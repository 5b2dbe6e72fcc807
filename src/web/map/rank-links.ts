import { Slices } from "../../core/index.ts";
import type { SiteLink } from "../engine.ts";

/** How much a word counts in each part of a link. */
const WEIGHTS = { title: 4, name: 3, path: 2, description: 1, host: 1 };

/** How long links are compared with the search; the rest counts as not fitting. */
const RANKING_MS_MAX = 5_000;

/** A word that only begins like the one that is sought. */
const PREFIX_SHARE = 0.5;

/** Puts the links that fit the search best first; others follow in their order. */
export async function rankLinks(links: readonly SiteLink[], search: string): Promise<SiteLink[]> {
  const sought = [...new Set(wordsOf(search))];
  if (sought.length === 0) return [...links];
  const slices = new Slices({ spentMsMax: RANKING_MS_MAX });
  const fitting: { link: SiteLink; score: number }[] = [];
  const others: SiteLink[] = [];
  let isLate = false;
  for (const link of links) {
    if (slices.isOver && !isLate) isLate = !(await slices.next());
    const score = isLate ? 0 : scoreOf(link, sought);
    if (score > 0) fitting.push({ link, score });
    else others.push(link);
  }
  const best = fitting.toSorted((a, b) => b.score - a.score).map(({ link }) => link);
  return [...best, ...others];
}

function scoreOf({ url, title = "", description = "" }: SiteLink, sought: readonly string[]): number {
  const { hostname, pathname, search } = new URL(url);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  const parts: [string[], number][] = [
    [wordsOf(title), WEIGHTS.title],
    [wordsOf(decoded(segments.at(-1) ?? "")), WEIGHTS.name],
    [wordsOf(decoded(segments.slice(0, -1).join(" ") + search)), WEIGHTS.path],
    [wordsOf(description), WEIGHTS.description],
    [wordsOf(hostname), WEIGHTS.host],
  ];
  let score = 0;
  let found = 0;
  for (const word of sought) {
    const best = Math.max(...parts.map(([words, weight]) => weight * fit(words, word)));
    score += best;
    if (best > 0) found += 1;
  }
  // All words together count more than one of them often.
  return score * (found / sought.length);
}

function fit(words: readonly string[], word: string): number {
  if (words.includes(word)) return 1;
  return words.some((each) => each.startsWith(word) || (each.length > 3 && word.startsWith(each))) ? PREFIX_SHARE : 0;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
