/** Parts of a page that are beside its content whatever a model makes of their sentences. */
import { landmarks } from "../landmarks.ts";
import type { Blocks, Region } from "../blocks.ts";

/** The names that all frameworks give to the comments below an article. */
const commentTokens: ReadonlySet<string> = new Set(["comment", "comments", "commentlist", "disqus", "respond"]);

/** Words of an article; a page with fewer is its comments. */
const articleWordsMin = 80;

/** Words of a form in an article: a sign-up, a search. Some pages are one form. */
const formWordsMax = 150;

/** Takes the comments below an article out of the kept blocks, in place, unless they are more of it than the article. */
export function dropComments(page: Blocks, kept: boolean[]): void {
  const { blocks } = page;
  const indexes = new Set(blocksWithin(page, isComment));
  let inside = 0;
  let outside = 0;
  for (const { index, facts } of blocks) {
    if (kept[index] !== true) continue;
    if (indexes.has(index)) inside += facts.words;
    else outside += facts.words;
  }
  if (outside < articleWordsMin || inside > outside) return;
  for (const index of indexes) kept[index] = false;
}

/** Takes forms in an article out of the kept blocks, in place. */
export function dropForms(page: Blocks, kept: boolean[]): void {
  for (const index of blocksWithin(page, isForm)) kept[index] = false;
}

/** The blocks in elements of a kind. Parents come before their children: each region is asked once. */
function blocksWithin({ blocks, regions }: Blocks, is: (region: Region) => boolean): number[] {
  const within: boolean[] = [];
  for (const region of regions)
    within.push((region.parent !== undefined && within[region.parent.index] === true) || is(region));
  return blocks.filter(({ region }) => within[region.index] === true).map(({ index }) => index);
}

function isComment({ tokens, node }: Region): boolean {
  const { itemtype = "", itemprop } = node.attribs;
  return tokens.some((token) => commentTokens.has(token)) || itemtype.endsWith("/Comment") || itemprop === "comment";
}

function isForm({ tag, words }: Region): boolean {
  return tag === "form" && words <= formWordsMax;
}

/** A line of nothing but marks of a site builder that has not replaced them: `[vc_row]`, `[caption id="a"]`, `[/x]`. */
const shortcodes =
  /^\s*(?:\[\/?[a-z][\w-]{0,60}(?:\s+[\w-]{1,60}\s*=\s*(?:"[^"]*"|'[^']*'|(?:[^\s\]"'/]|\/(?!\]))+))*\s*\/?\]\s*)+$/i;

/** Takes lines of shortcodes out of the kept blocks, in place, unless the page shows them as code. */
export function dropShortcodes({ blocks }: Blocks, kept: boolean[]): void {
  for (const { index, text, region, inlineTags } of blocks) {
    if (kept[index] !== true || !text.includes("[") || !/\[\/|[=_]/.test(text)) continue;
    const isCode = (region.landmarks & landmarks.pre) !== 0 || inlineTags.includes("code");
    if (!isCode && text.length <= shortcodeCharactersMax && shortcodes.test(text)) kept[index] = false;
  }
}

const shortcodeCharactersMax = 1_000;
