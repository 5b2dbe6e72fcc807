import { type contentTraining } from "../../src/pages/index.ts";
import { type ExtractedArticle, type SnippetPage, wordsIn } from "../../bench/extraction/news.ts";
import { wordsOf } from "../../bench/extraction/score.ts";
import { describe, foldOf, type Sample, sampleOf, siteOf, weighBlocks } from "./samples.ts";
import { gatherWords } from "./word-weights.ts";

/** Words of an article; shorter ones test markup, not extraction. */
const articleWordsMin = 100;

/** The weight of pages whose content is only known in part, against those of the corpus. */
const articleShare = 0.6;
const articleTypeWeight = 0.5;
const snippetShare = 0.7;

/** The weight of a block whose label is the opinion of another model, and the least of one with a snippet. */
const opinionShare = 0.3;
const snippetWeightMin = 0.05;

/** An article, learned from as another extractor reads it; undefined for one that is too short. Its title is no matter of opinion. */
export function articleSample({ name, html, expected, title }: ExtractedArticle): Sample | undefined {
  const lines = describe(expected, "").blocks.map(({ text }) => text.replaceAll(/\s+/g, " ").trim());
  const content = lines.join("\n");
  if (wordsOf(content).length < articleWordsMin) return undefined;
  const weight = { type: "article", typeWeight: articleTypeWeight, share: articleShare } as const;
  const sample = sampleOf(
    html,
    { url: addressOf(html) ?? `https://${name.replace(/-\d+$/, "")}.test/`, content },
    weight,
  );
  const folded = title.toLowerCase().trim();
  for (const { index, region, text } of sample.facts.blocks) {
    const own = text.trim().toLowerCase();
    if (region.tag === "h1" || (own.length > 5 && folded.includes(own))) sample.weights[index] = 0;
  }
  return sample;
}

function addressOf(html: string): string | undefined {
  const found =
    /<link[^>]+rel=["']?canonical["']?[^>]*href=["']([^"']+)/i.exec(html)?.[1] ??
    /property=["']og:url["'][^>]*content=["']([^"']+)/i.exec(html)?.[1];
  return found !== undefined && URL.canParse(found) ? found : undefined;
}

/** A page of which some snippets are known, without labels yet. */
export interface SnippetSample {
  readonly page: SnippetPage;
  readonly fold: number;
  readonly facts: contentTraining.PageFacts;
  /** By block: 1 and 0 for content and for other text, undefined if nothing is known; and whether a snippet is in it. */
  readonly known: readonly { readonly label: number | undefined; readonly hasSnippet: boolean }[];
}

export function snippetSample(page: SnippetPage): SnippetSample {
  const facts = describe(page.html, page.url);
  const texts = facts.blocks.map(({ text }) => wordsIn(text));
  const marked = new Map<number, number>();
  for (const snippet of page.without) for (const index of blocksWith(texts, snippet)) marked.set(index, 0);
  for (const snippet of page.with) {
    // The longest one: others repeat it in teasers.
    const [first, ...rest] = blocksWith(texts, snippet);
    if (first === undefined) continue;
    marked.set(
      rest.reduce((best, index) => (lengthAt(texts, index) > lengthAt(texts, best) ? index : best), first),
      1,
    );
  }
  const known = facts.blocks.map(({ index }) => {
    const own = marked.get(index);
    return own === undefined
      ? { label: labelOfGroup(facts, index, marked), hasSnippet: false }
      : { label: own, hasSnippet: true };
  });
  return { page, fold: foldOf(siteOf(page.url)), facts, known };
}

function blocksWith(texts: readonly string[], snippet: string): number[] {
  const words = wordsIn(snippet);
  return words.trim() === "" ? [] : [...texts.keys()].filter((index) => texts[index]?.includes(words));
}

function lengthAt(texts: readonly string[], index: number): number {
  return texts[index]?.length ?? 0;
}

/** Blocks at the same place of a template are all content or none. */
function labelOfGroup(
  { groups }: contentTraining.PageFacts,
  index: number,
  marked: ReadonlyMap<number, number>,
): number | undefined {
  const labels = new Set([...marked].filter(([at]) => groups[at] === groups[index]).map(([, label]) => label));
  const [label] = labels;
  return labels.size === 1 ? label : undefined;
}

/** Completes a page by what a model thinks of the blocks that nothing is known of. */
export function completed({ page, fold, facts, known }: SnippetSample, opinion: Float32Array): Sample {
  const labels = Float32Array.from(known, ({ label }, index) => label ?? opinion[index] ?? 0);
  const blockWords = facts.blocks.map((block) => block.facts.words);
  const contentWords = blockWords.reduce((sum, words, index) => sum + words * (opinion[index] ?? 0), 0);
  const weights = weighBlocks(blockWords, contentWords).map((weight, index) => {
    const { label, hasSnippet } = known[index] ?? { label: undefined, hasSnippet: false };
    const share = label === undefined ? opinionShare : 1;
    return snippetShare * (hasSnippet ? Math.max(weight, snippetWeightMin) : weight * share);
  });
  const words = facts.blocks.map(() => []);
  const pageWords = gatherWords(siteOf(page.url), facts.blocks, { labels, weights });
  return { type: undefined, typeWeight: 0, fold, facts, words, contentWords: [], labels, weights, pageWords };
}
