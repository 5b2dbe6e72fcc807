/**
 * What all pages of the documentation have in common: the head, the navigation, the search. Its ids begin with `page-`, which no heading
 * and no operation does.
 */
import type { GuideGroup } from "./guides.ts";
import { escapeHtml } from "./html.ts";
import { referenceAddress, type ReferencePage, titleOf } from "./reference-pages.ts";

export interface Page {
  /** Its address, such as `/docs/clients`. */
  address: string;
  title: string;
  /** One sentence, for search engines and the tabs of browsers. */
  description: string;
  /** The content, with its `h1`. */
  main: string;
  /** Links to the parts of the page. A page of the reference has them in the navigation. */
  parts: readonly { text: string; slug: string; depth: number }[];
}

export interface Navigation {
  guides: readonly GuideGroup[];
  reference: readonly ReferencePage[];
}

export function framed({ address, title, description, main, parts }: Page, navigation: Navigation): string {
  const isReference = navigation.reference.some((page) => referenceAddress(page) === address);
  const isApi = isReference || address === "/docs/api" || address === "/docs/api/admin";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(description)}">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Tollgate</title>
<link rel="stylesheet" href="/docs/assets/documentation.css">
<script type="module" src="/docs/assets/page.js"></script>
<script type="module" src="/docs/assets/search.js"></script>
</head>
<body>
<a class="skip" href="#page-main">Skip to the content</a>
<header>
<button class="menu" type="button" popovertarget="page-navigation">Menu</button>
<a class="home" href="/docs">Tollgate</a>
<nav class="top" aria-label="Parts of the documentation">${topLink("/docs", "Guides", !isApi)}${topLink("/docs/api", "API", isApi)}${topLink("/console", "Console", false)}</nav>
<search><label for="page-search">Search</label> <input id="page-search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" disabled aria-controls="page-results"><kbd aria-hidden="true">/</kbd><ol id="page-results" aria-label="Results" hidden></ol></search>
</header>
<div class="columns${isReference ? " reference" : ""}">
<main id="page-main">
${main}
</main>
${isReference ? "" : partsView(parts)}<nav id="page-navigation" aria-label="All pages" popover>
${navigationView(navigation, address)}</nav>
</div>
</body>
</html>
`;
}

function topLink(to: string, text: string, isHere: boolean): string {
  return `<a href="${to}"${isHere ? ' aria-current="true"' : ""}>${text}</a>`;
}

interface Group {
  title: string;
  links: readonly { to: string; text: string; below?: string }[];
}

/** All pages in groups, of which those around the page are unfolded. */
function navigationView({ guides, reference }: Navigation, address: string): string {
  const ofGuides = guides.map(({ title, guides: entries }) => ({
    title,
    links: entries.map((guide) => ({ to: `/docs/${guide.name}`, text: guide.title })),
  }));
  const own = reference.filter(({ isAdministration }) => !isAdministration);
  const administration = reference.filter(({ isAdministration }) => isAdministration);
  const ofReference = [
    {
      title: "API",
      links: [{ to: "/docs/api", text: "Overview" }, ...own.map((page) => referenceLink(page, address))],
    },
    {
      title: "Administration",
      links: [
        { to: "/docs/api/admin", text: "Overview" },
        ...administration.map((page) => referenceLink(page, address)),
      ],
    },
  ];
  const isOf = ({ links }: Group): boolean => links.some(({ to }) => to === address);
  const isGuide = !ofReference.some(isOf);
  return [
    ...ofGuides.map((group) => groupView(group, address, isGuide)),
    ...ofReference.map((group) => groupView(group, address, isOf(group) || !isGuide)),
  ].join("");
}

function referenceLink(page: ReferencePage, address: string): Group["links"][number] {
  const to = referenceAddress(page);
  if (to !== address) return { to, text: page.title };
  const below = page.operations.map(
    (operation) =>
      `<li><a href="#${operation.operationId}">${escapeHtml(titleOf(operation))} <span class="method ${operation.method}">${shortMethod(operation.method)}</span></a></li>`,
  );
  return { to, text: page.title, below: `<ul class="operations">${below.join("\n")}</ul>` };
}

const shortMethod = (method: string): string => (method === "delete" ? "DEL" : method.toUpperCase());

function groupView({ title, links }: Group, address: string, isOpen: boolean): string {
  const items = links.map(
    ({ to, text, below = "" }) =>
      `<li><a href="${to}"${to === address ? ' aria-current="page"' : ""}>${escapeHtml(text)}</a>${below}</li>\n`,
  );
  return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary>\n<ul>\n${items.join("")}</ul>\n</details>\n`;
}

function partsView(parts: Page["parts"]): string {
  if (parts.length < 2) return "";
  const links = parts
    .filter(({ depth }) => depth <= 3)
    .map(({ text, slug, depth }) => `<li class="depth-${depth}"><a href="#${slug}">${escapeHtml(text)}</a></li>\n`);
  return `<nav id="page-parts" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${links.join("")}</ul>\n</nav>\n`;
}
