/** The pages of `/docs`: the guides of `docs/`, and the operations of `openapi.json`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { guideGroups, guideOf } from "./guides.ts";
import { loadHighlighter } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import { type ApiDocument, type Operation, operationsByTag } from "./openapi.ts";
import { headingOf, operationsView } from "./operation-view.ts";
import { apiAddress, framed, type Navigation, type Page } from "./page-frame.ts";

/** One result of the search. */
interface SearchEntry {
  /** The address, with its fragment. */
  to: string;
  title: string;
  /** The page that it is part of, or the method and path of an operation. */
  of: string;
  /** Further words. */
  text?: string;
}

/** The files below `documentation/`, by their names; the folder contains no other files of these kinds. */
export async function documentationPages(root: string): Promise<Record<string, string>> {
  await loadHighlighter();
  const read = (file: string): string => readFileSync(join(root, file), "utf8");
  const document = JSON.parse(read("openapi.json")) as ApiDocument;
  const groups = guideGroups(read("docs/README.md"));
  const operations = operationsByTag(document);
  const navigation: Navigation = { guides: groups, tags: [...operations.keys()] };
  const names = new Set(groups.flatMap(({ guides }) => guides.map(({ name }) => name)));
  const pages: Page[] = [contentsPage(navigation, operations)];
  const found: SearchEntry[] = [];
  for (const { name, title, about } of groups.flatMap(({ guides }) => guides)) {
    const guide = guideOf(name, read(`docs/${name}.md`), names);
    const address = `/docs/${name}`;
    pages.push({ address, title: guide.title, description: about, main: guide.html, parts: guide.headings });
    found.push({ to: address, title: guide.title, of: "Guide", text: `${title} ${about} ${guide.words}` });
    found.push(
      ...guide.headings.map(({ text, slug, words }) => ({
        to: `${address}#${slug}`,
        title: text,
        of: guide.title,
        text: words,
      })),
    );
  }
  for (const [tag, all] of operations) {
    const address = apiAddress(tag);
    const parts = all.map((operation) => ({ text: headingOf(operation), slug: operation.operationId, depth: 2 }));
    const description = all.map(({ summary }) => summary).join(" ");
    pages.push({ address, title: `${tag} API`, description, main: operationsView(tag, all, document), parts });
    found.push(
      ...all.map(({ operationId, summary, description: about, parameters = [], method, path }) => ({
        to: `${address}#${operationId}`,
        title: summary,
        of: `${method.toUpperCase()} ${path}`,
        text: [operationId, about ?? "", ...parameters.map(({ name }) => name)].join(" "),
      })),
    );
  }
  const files = pages.map((page) => [fileOf(page), framed(page, navigation)] as const);
  return { ...Object.fromEntries(files), "documentation/assets/search.json": `${JSON.stringify(found)}\n` };
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

function contentsPage({ guides }: Navigation, operations: ReadonlyMap<string, readonly Operation[]>): Page {
  const groups = guides.map(({ title, guides: entries }) => {
    const items = entries.map(
      ({ name, title: text, about }) =>
        `<dt><a href="/docs/${name}">${escapeHtml(text)}</a></dt><dd>${escapeHtml(about)}</dd>`,
    );
    return `<h2>${escapeHtml(title)}</h2>\n<dl class="contents">${items.join("\n")}</dl>`;
  });
  const tags = [...operations].map(([tag, all]) => {
    const routes = all.map(
      ({ operationId, method, path }) =>
        `<li><a href="${apiAddress(tag)}#${operationId}"><span class="method ${method}">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></a></li>`,
    );
    return `<h3><a href="${apiAddress(tag)}">${escapeHtml(tag)}</a></h3>\n<ul class="routes">${routes.join("\n")}</ul>`;
  });
  const main = `<h1>Tollgate</h1>
<p>One HTTP gateway in front of every AI provider: chat, Messages, Responses, embeddings, images, video, audio, realtime and the web, with one token, paid from one prepaid balance.</p>
<p>New here? <a href="/docs/clients">Point your client at it</a>. The whole API is also one <a href="/openapi.json">OpenAPI document</a>.</p>
${groups.join("\n")}
<h2>API</h2>
${tags.join("\n")}`;
  return {
    address: "/docs",
    title: "Documentation",
    description: "Guides and the whole API of this gateway.",
    main,
    parts: [],
  };
}
