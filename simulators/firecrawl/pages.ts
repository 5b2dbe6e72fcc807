import { identityOf } from "../shared/identity.ts";
import { asArray, asObject, isObject, type JsonObject, stringOr } from "../shared/json.ts";
import { jsonInstance } from "../shared/json-instance.ts";
import type { Corpus } from "../shared/search/corpus.ts";

/** A page as Firecrawl sees it. */
interface SeenPage {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly markdown: string;
  readonly statusCode: number;
  /** Of a PDF; 0 for other pages. */
  readonly pdfPages: number;
}

/**
 * The page behind an address: of the demo site, from the search engines' corpus, or made up. Paths that end in a status
 * (`/404`) have it, paths that end in `.pdf` are documents of three pages.
 */
export function pageAt(url: string, corpus: Corpus): SeenPage {
  const { hostname, pathname } = new URL(url);
  const known = corpus.find((entry) => entry.url === url || entry.url === `${url}/`);
  const statusCode = Number(/\/([45]\d\d)$/.exec(pathname)?.[1] ?? 200);
  const pdfPages = pathname.endsWith(".pdf") ? 3 : 0;
  if (known !== undefined) {
    const { title, description, text } = known;
    return { url, title, description, markdown: text, statusCode, pdfPages };
  }
  const title = statusCode === 200 ? `Page ${pathname} of ${hostname}` : `Error ${statusCode}`;
  const description = `A page that the simulator made up for ${hostname}.`;
  return { url, title, description, markdown: `# ${title}\n\n${description}\n\n[Home](/)`, statusCode, pdfPages };
}

/** `data` of a scrape, or one element of a crawl's `data`. */
export function documentOf(page: SeenPage, options: JsonObject): JsonObject {
  const { url, title, description, statusCode, pdfPages } = page;
  const formats = formatsIn(options);
  const written = Object.fromEntries(formats.flatMap((format) => membersOf(format, page)));
  return {
    ...written,
    metadata: {
      title,
      description,
      language: "en",
      sourceURL: url,
      url,
      statusCode,
      contentType: pdfPages > 0 ? "application/pdf" : "text/html; charset=utf-8",
      ...(pdfPages > 0 ? { numPages: pdfPages, totalPages: pdfPages } : {}),
      scrapeId: identityOf("scrape", url).uuid("id"),
      proxyUsed: "basic",
      cacheState: "miss",
      creditsUsed: creditsOf(page, options),
    },
  };
}

/** A page costs a credit, its JSON four more, and a PDF one for each of its pages. */
export function creditsOf({ pdfPages }: SeenPage, options: JsonObject): number {
  const asksForJson = formatsIn(options).some((format) => format["type"] === "json");
  return Math.max(1, pdfPages) + (asksForJson ? 4 : 0);
}

function formatsIn({ formats }: JsonObject): readonly JsonObject[] {
  const asked = formats === undefined ? ["markdown"] : asArray(formats);
  return asked.map((format) => (isObject(format) ? format : { type: format }));
}

function membersOf(format: JsonObject, page: SeenPage): [string, unknown][] {
  const { url, title, description, markdown } = page;
  const type = stringOr(format["type"], "");
  const identity = identityOf("page", url, type);
  const html = `<h1>${title}</h1><p>${description}</p>`;
  switch (type) {
    case "markdown":
      return [["markdown", markdown]];
    case "html":
      return [["html", html]];
    case "rawHtml":
      return [["rawHtml", `<!doctype html><html><head><title>${title}</title></head><body>${html}</body></html>`]];
    case "links":
      return [["links", [new URL("/", url).href, new URL("/about", url).href]]];
    case "images":
      return [["images", [new URL("/logo.png", url).href]]];
    case "summary":
      return [["summary", `${title}: ${description}`]];
    case "screenshot":
      return [["screenshot", `https://screenshots.firecrawl.example/${identity.hex("file", 32)}.png`]];
    case "json":
      return [["json", format["schema"] === undefined ? { title } : jsonInstance(asObject(format["schema"]))]];
    case "question":
      return [["answer", `The page ${title} answers it.`]];
    case "highlights":
      return [["highlights", description]];
    case "changeTracking":
      return [["changeTracking", { previousScrapeAt: null, changeStatus: "new", visibility: "visible" }]];
    default:
      return [[type, null]];
  }
}
