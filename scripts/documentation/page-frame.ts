/**
 * What all pages of the documentation have in common: the head, the navigation, the search. Its ids begin with `page-`, which no heading
 * and no operation does.
 */
import type { GuideGroup } from "./guides.ts";
import { escapeHtml } from "./html.ts";

export interface Page {
  /** Its address, such as `/docs/clients`. */
  address: string;
  title: string;
  /** One sentence, for search engines and the tabs of browsers. */
  description: string;
  /** The content, with its `h1`. */
  main: string;
  /** Links to the parts of the page. */
  parts: readonly { text: string; slug: string; depth: number }[];
}

export interface Navigation {
  guides: readonly GuideGroup[];
  /** The groups of operations, as the document names them. */
  tags: readonly string[];
}

export function apiAddress(tag: string): string {
  return `/docs/api/${tag.toLowerCase()}`;
}

export function framed({ address, title, description, main, parts }: Page, navigation: Navigation): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(description)}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tollgate</title>
<link rel="stylesheet" href="/docs/assets/documentation.css">
<script type="module" src="/docs/assets/search.js"></script>
</head>
<body>
<a class="skip" href="#page-main">Skip to the content</a>
<header>
<a class="home" href="/docs">Tollgate</a>
<a class="menu" href="#page-navigation">Contents</a>
<search><label for="page-search">Search</label> <input id="page-search" type="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false" disabled aria-controls="page-results"><ol id="page-results" hidden></ol></search>
</header>
<div class="columns">
<main id="page-main">
${main}
</main>
${partsView(parts)}<nav id="page-navigation" aria-label="All pages">
${navigationView(navigation, address)}</nav>
</div>
</body>
</html>
`;
}

function navigationView({ guides, tags }: Navigation, address: string): string {
  const link = (to: string, text: string): string =>
    `<li><a href="${to}"${to === address ? ' aria-current="page"' : ""}>${escapeHtml(text)}</a></li>\n`;
  const groups = guides.map(({ title, guides: entries }) => ({
    title,
    links: entries.map((guide) => link(`/docs/${guide.name}`, guide.title)),
  }));
  const api = { title: "API", links: tags.map((tag) => link(apiAddress(tag), tag)) };
  return [...groups, api]
    .map(({ title, links }) => `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join("")}</ul>\n`)
    .join("");
}

function partsView(parts: Page["parts"]): string {
  if (parts.length < 2) return "";
  const links = parts
    .filter(({ depth }) => depth <= 3)
    .map(({ text, slug, depth }) => `<li class="depth-${depth}"><a href="#${slug}">${escapeHtml(text)}</a></li>\n`);
  return `<nav id="page-parts" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${links.join("")}</ul>\n</nav>\n`;
}
