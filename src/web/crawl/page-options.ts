/** The options of the scrape of one page of a crawl. */
import { objectOf } from "../../core/index.ts";
import type { ScrapeOptions } from "../scrape/scrape-request.ts";
import type { OpenCrawl } from "./open-crawl.ts";

/** Its markdown is compared with that of other pages, and searched, whether or not it is requested. */
export function pageOptions({ plan, scope }: OpenCrawl, url: string): ScrapeOptions {
  const isNamed = scope === undefined || scope.isOwnHost(new URL(url));
  const options = isNamed ? plan.scrape : withoutHeaders(plan.scrape);
  const formats = options.formats ?? ["markdown"];
  const has = formats.some((format) => format === "markdown" || objectOf(format)?.["type"] === "markdown");
  return has ? options : { ...options, formats: [...formats, "markdown"] };
}

/** For another site than the named one: the caller's headers may be its credentials. */
export function withoutHeaders(options: ScrapeOptions): ScrapeOptions {
  return { ...options, headers: undefined };
}
