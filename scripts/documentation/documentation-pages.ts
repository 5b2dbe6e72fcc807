/** The pages of `/docs`: the guides of `docs/`, and the operations of `openapi.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { administrationPage, contentsPage, referenceContentsPage } from "./contents-pages.ts";
import { type Guide, guideGroups, guideOf } from "./guides.ts";
import { loadHighlighter } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import { type ApiDocument, operationsOf } from "./openapi.ts";
import { referenceView } from "./operation-view.ts";
import { framed, type Navigation, type Page } from "./page-frame.ts";
import { referenceAddress, referencePages } from "./reference-pages.ts";
import { guideEntries, referenceEntries } from "./search-index.ts";

/** The files below `documentation/`, by their names; the folder contains no other files of these kinds. */
export async function documentationPages(root: string): Promise<Record<string, string>> {
  await loadHighlighter();
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const document = JSON.parse(read("openapi.json")) as ApiDocument;
  const groups = guideGroups(read("docs/README.md"));
  const reference = referencePages(operationsOf(document));
  const navigation: Navigation = { guides: groups, reference };
  const listed = groups.flatMap(({ guides }) => guides);
  const titles = new Map(listed.map(({ name, title }) => [name, title]));
  const guides = listed.map(({ name, about }) => ({
    guide: guideOf(name, read(`docs/${name}.md`), new Set(titles.keys())),
    about,
  }));
  const pages: Page[] = [
    contentsPage(groups, reference),
    referenceContentsPage(reference, document),
    administrationPage(reference),
    ...guides.map(({ guide, about }, at) => guidePage(guide, about, [guides[at - 1]?.guide, guides[at + 1]?.guide])),
    ...reference.map((page) => ({
      address: referenceAddress(page),
      title: `${page.title} API`,
      description: page.about,
      main: referenceView(page, document, titles),
      parts: [],
    })),
  ];
  const found = [
    ...guides.flatMap(({ guide, about }) => guideEntries(guide, about)),
    ...reference.flatMap((page) => referenceEntries(page, document)),
  ];
  const files = pages.map((page) => [fileOf(page), framed(page, navigation)] as const);
  return { ...Object.fromEntries(files), "documentation/assets/search.json": `${JSON.stringify(found)}\n` };
}

function neighbour(to: Guide | undefined, kind: string, rel: string): string {
  return to === undefined
    ? ""
    : `<a rel="${rel}" href="/docs/${to.name}"><small>${kind}</small>${escapeHtml(to.title)}</a>`;
}

/** A guide with links to the guides before and behind it. */
function guidePage(
  guide: Guide,
  about: string,
  [before, after]: readonly [Guide | undefined, Guide | undefined],
): Page {
  const { name, title, html, headings } = guide;
  const links = `${neighbour(before, "Before", "prev")}${neighbour(after, "Next", "next")}`;
  const main = `${html}\n<nav class="neighbours" aria-label="Neighbouring guides">${links}</nav>`;
  return { address: `/docs/${name}`, title, description: about, main, parts: headings };
}

/** The pages that are left from guides or tags that have gone. */
export function leftPages(root: string, pages: Readonly<Record<string, string>>): string[] {
  const entries = readdirSync(join(root, "documentation"), { recursive: true, encoding: "utf8" });
  const files = entries.filter((entry) => entry.endsWith(".html")).map((entry) => `documentation/${entry}`);
  return files.filter((file) => pages[file] === undefined);
}

function fileOf({ address }: Page): string {
  return address === "/docs" ? "documentation/index.html" : `documentation/${address.slice("/docs/".length)}.html`;
}
