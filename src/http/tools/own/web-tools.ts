import { type JsonObject, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import { crawlRequest, mapRequest, scrapeRequest, searchRequest } from "../../../web/index.ts";
import { startCrawlRoute } from "../../web/crawl.ts";
import { mapRoute } from "../../web/map.ts";
import { scrapeRoute } from "../../web/scrape.ts";
import { searchRoute } from "../../web/search.ts";
import { askForPages, askRoute, bodyOf } from "./ask-route.ts";
import { answerBegun } from "./jobs.ts";
import type { OwnTool } from "./own-tool.ts";
import { textOfPage } from "./page-text.ts";

const optionsShown = ["formats", "onlyMainContent"];

export const webSearch: OwnTool = {
  name: "web_search",
  title: "Web search",
  description: "Searches the web. With scrapeOptions each result has the content of its page too.",
  input: searchRequest,
  shown: ["query", "limit", "includeDomains", "excludeDomains", "scrapeOptions"],
  shownOptions: optionsShown,
  isReadOnly: true,
  isOpenWorld: true,
  call: (call) => askForPages(searchRoute, call, { body: bodyOf(call), text: textOfResults }),
};

function textOfResults({ data }: JsonObject): string {
  return objectsOf(objectOf(data)?.["web"]).map(textOfPage).join("\n\n");
}

export const webScrape: OwnTool = {
  name: "web_scrape",
  title: "Read a web page",
  description: "Reads one page, as markdown by default. The page may be HTML, a PDF or another document.",
  input: scrapeRequest,
  shown: ["url", ...optionsShown, "includeTags", "excludeTags", "waitFor", "mobile", "maxAge", "timeout"],
  isReadOnly: true,
  isOpenWorld: true,
  call: (call) =>
    askForPages(scrapeRoute, call, { body: bodyOf(call), text: ({ data }) => textOfPage(objectOf(data) ?? {}) }),
};

export const webMap: OwnTool = {
  name: "web_map",
  title: "List the pages of a site",
  description: "Lists the addresses of a site's pages, those that fit `search` first.",
  input: mapRequest,
  shown: ["url", "search", "limit", "sitemap", "includeSubdomains"],
  isReadOnly: true,
  isOpenWorld: true,
  call: (call) => askForPages(mapRoute, call, { body: bodyOf(call), text: textOfLinks }),
};

function textOfLinks({ links }: JsonObject): string {
  return objectsOf(links)
    .map(({ url, title }) => [stringOf(url), stringOf(title)].filter((part) => part !== "").join(" "))
    .join("\n");
}

export const webCrawl: OwnTool = {
  name: "web_crawl",
  title: "Crawl a site",
  description:
    "Reads the pages of a site from an address on. Set limit: each page costs credits. A crawl that is not done soon " +
    "returns its id, with which job_get reads the rest.",
  input: crawlRequest,
  shown: ["url", "limit", "maxDiscoveryDepth", "includePaths", "excludePaths", "crawlEntireDomain", "scrapeOptions"],
  shownOptions: optionsShown,
  isReadOnly: false,
  isOpenWorld: true,
  async call(call) {
    const response = await askRoute(startCrawlRoute, call, { body: bodyOf(call) });
    return answerBegun(call, "crawl", response);
  },
};
