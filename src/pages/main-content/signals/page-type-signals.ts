import { isProse, type Block } from "../blocks.ts";
import { landmarks } from "../landmarks.ts";
import type { Group, PageFacts } from "../page-facts.ts";
import { isHeading } from "../tags.ts";
import { flag, share, type PageSignal } from "./signal.ts";

const segments = ({ url }: PageFacts): readonly string[] =>
  (url?.pathname ?? "").split("/").filter((part) => part !== "");
const lastSegment = (page: PageFacts): string => segments(page).at(-1) ?? "";

function addressHas(name: string, pattern: RegExp): PageSignal {
  return {
    name: `url-${name}`,
    of: ({ url }) =>
      flag(url !== undefined && pattern.test(`${url.hostname}${url.pathname}${url.search}`.toLowerCase())),
  };
}

const addressSignals: readonly PageSignal[] = [
  addressHas("product", /\/(products?|p|dp|item|itm|pd|shop\/p|buy)\/|\/product|-p-\d|sku/),
  addressHas("collection", /\/(collections?|categor(?:y|ies)|c|shop|browse|departments?|cat|store|b)(\/|$)|category/),
  addressHas("forum", /forum|thread|topic|\/t\/|viewtopic|questions?\/|discuss|community|\/comments\/|\/answers|board/),
  addressHas(
    "docs",
    /docs?[./]|documentation|reference|manual|\/api|guide|tutorial|developer|learn|readthedocs|man\d|wiki|\.rst/,
  ),
  addressHas("article", /blog|news|article|post|stor(?:y|ies)|\/(19|20)\d\d[/-]|magazine|recipe|review/),
  addressHas(
    "service",
    /services?|solutions?|platform|pricing|features?|plans?|program|about|compan|software|consult|insurance/,
  ),
  addressHas(
    "listing",
    /list|search|directory|tags?\/|archive|index|jobs?|events?|courses?|topics?\/|latest|results|catalog|rank|top/,
  ),
  { name: "url-depth", of: (page) => segments(page).length },
  { name: "url-last-words", of: (page) => lastSegment(page).split(/[-_+]/).length },
  { name: "url-last-length", of: (page) => lastSegment(page).length },
  { name: "url-digits", of: ({ url }) => url?.pathname.match(/\d/g)?.length ?? 0 },
  { name: "url-query", of: ({ url }) => flag((url?.search ?? "") !== "") },
];

function typed(name: string, pattern: RegExp): PageSignal {
  return {
    name: `type-${name}`,
    of: ({ head, itemTypes }) =>
      flag(head.types.some((type) => pattern.test(type)) || itemTypes.some((type) => pattern.test(type))),
  };
}

function headHas(name: string, key: "title" | "openGraphType" | "generator", pattern: RegExp): PageSignal {
  return { name: `head-${name}`, of: ({ head }) => flag(pattern.test(head[key])) };
}

const headSignals: readonly PageSignal[] = [
  typed("product", /^product(group)?$/),
  typed("article", /article$|posting$|report$|^recipe$/),
  typed("forum", /^discussionforumposting$|^qapage$|^question$/),
  typed("list", /^itemlist$|^collectionpage$|^searchresultspage$/),
  typed("faq", /^faqpage$/),
  typed("docs", /^techarticle$|^apireference$|^howto$/),
  typed("business", /organi[sz]ation$|business$|^service$|^softwareapplication$|^course$/),
  typed("webpage", /^webpage$/),
  { name: "types", of: ({ head }) => Math.min(head.types.length, 10) },
  {
    name: "offers",
    of: ({ head }) => Math.min(20, head.types.filter((type) => type === "product" || type === "offer").length),
  },
  headHas("product", "openGraphType", /product/),
  headHas("article", "openGraphType", /article/),
  headHas("website", "openGraphType", /website/),
  headHas("untyped", "openGraphType", /^$/),
  headHas(
    "docs-generator",
    "generator",
    /sphinx|docusaurus|mkdocs|gitbook|doxygen|vitepress|hugo|jekyll|rustdoc|javadoc|asciidoc/,
  ),
  headHas(
    "forum-generator",
    "generator",
    /discourse|xenforo|vbulletin|phpbb|invision|flarum|nodebb|simple machines|mybb|vanilla/,
  ),
  headHas("forum-title", "title", /forum|community|thread|reddit|question|discussion|stack|answers/i),
  headHas("docs-title", "title", /documentation|docs|reference|manual|guide|api\b|tutorial|mdn/i),
  headHas("shop-title", "title", /\bshop\b|\bbuy\b|sale|store|for (?:men|women)|\$|€|£/i),
  headHas("company-title", "title", /services?|solutions?|software|platform|program|agency|company/i),
  headHas("list-title", "title", /list|best|top \d|news|archive|category|all |courses|jobs|events|search|results/i),
  { name: "title-words", of: ({ titleWords }) => titleWords.size },
];

function count({ blocks }: PageFacts, of: (block: Block) => boolean): number {
  return blocks.reduce((sum, block) => sum + flag(of(block)), 0);
}

/** How many short blocks hold one of some words. */
function labels(name: string, wordsMax: number, pattern: RegExp): PageSignal {
  return {
    name: `labels-${name}`,
    of: (page) => Math.log1p(count(page, ({ facts, text }) => facts.words <= wordsMax && pattern.test(text))),
  };
}

const inLandmark =
  (bit: number) =>
  (block: Block): boolean =>
    (block.region.landmarks & bit) !== 0;

/** The group of four blocks or more that has the most words. */
function largestGroup({ groups }: PageFacts): Group | undefined {
  let largest: Group | undefined;
  for (const group of new Set(groups)) if (group.blocks >= 4 && group.words > (largest?.words ?? 0)) largest = group;
  return largest;
}

const shapeSignals: readonly PageSignal[] = [
  { name: "words", of: ({ words }) => Math.log1p(words) },
  { name: "blocks", of: ({ blocks }) => Math.log1p(blocks.length) },
  { name: "links", of: ({ linkWords, words }) => share(linkWords, words) },
  { name: "prose", of: ({ proseWords, words }) => share(proseWords, words) },
  { name: "prose-words", of: ({ proseWords }) => Math.log1p(proseWords) },
  { name: "prose-length", of: (page) => share(page.proseWords, count(page, isProse)) },
  { name: "block-length", of: ({ words, blocks }) => share(words, blocks.length) },
  { name: "densest-share", of: ({ densest, words }) => share(densest?.words ?? 0, words) },
  { name: "densest-links", of: ({ densest }) => share(densest?.linkWords ?? 0, densest?.words ?? 0) },
  { name: "densest-blocks", of: ({ densest }) => Math.log1p(densest?.blocks ?? 0) },
  { name: "articles", of: ({ articles }) => Math.log1p(articles) },
  { name: "main-share", of: ({ mainWords, words }) => share(mainWords, words) },
  { name: "prices", of: (page) => Math.log1p(count(page, ({ facts }) => facts.money > 0)) },
  { name: "code", of: (page) => Math.log1p(count(page, inLandmark(landmarks.pre))) },
  { name: "cells", of: (page) => Math.log1p(count(page, ({ region }) => region.tag === "td")) },
  {
    name: "headings",
    of: (page) =>
      share(
        count(page, ({ region }) => isHeading(region.tag)),
        page.blocks.length,
      ),
  },
  {
    name: "paragraphs",
    of: (page) =>
      share(
        count(page, ({ region }) => region.tag === "p"),
        page.blocks.length,
      ),
  },
  { name: "buttons", of: (page) => share(count(page, inLandmark(landmarks.button)), page.blocks.length) },
  { name: "questions", of: (page) => count(page, ({ text }) => text.trimEnd().endsWith("?")) },
  labels(
    "buy",
    6,
    /add to (?:cart|bag|basket)|buy now|in den warenkorb|ajouter au panier|añadir al carrito|in stock|out of stock|sold out|quantity|sku/i,
  ),
  labels("filter", 6, /sort by|filter|results|items|\bproducts\b|trier|sortier/i),
  labels(
    "post",
    8,
    /\breply\b|replies|joined|posts?:?\s*\d|member|quote|likes?|said:|upvote|answered|asked|#\d+|report/i,
  ),
  labels("call", 6, /get started|contact us|free trial|request a|learn more|book a|demo|sign up|get a quote|apply/i),
  labels("date", 10, /\b(?:19|20)\d\d\b|\bago\b/),
  { name: "group-share", of: (page) => share(largestGroup(page)?.words ?? 0, page.words) },
  { name: "group-length", of: (page) => share(largestGroup(page)?.words ?? 0, largestGroup(page)?.blocks ?? 0) },
  { name: "group-blocks", of: (page) => largestGroup(page)?.blocks ?? 0 },
];

/** Everything that is computed about a page, to recognise its type. */
export const pageTypeSignals: readonly PageSignal[] = [...addressSignals, ...headSignals, ...shapeSignals];
