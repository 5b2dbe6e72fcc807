/** The options of the scrape of one page of a crawl. */
import { objectOf } from "../../../core/index.ts";
import type { ScrapeOptions } from "../../scrape/scrape-request.ts";
import { type CrawlPlan, withoutHeaders } from "../crawl-request.ts";
import type { OpenCrawl } from "../open-crawl.ts";

/**
 * Its markdown is compared with that of other pages, and searched, and its links are followed: they are requested even if the
 * caller does not want them, since an upstream engine answers with nothing else.
 */
export function pageOptions(
  { plan, scope }: OpenCrawl,
  { url, maxAgeMs }: { url: string; maxAgeMs: number | undefined },
): ScrapeOptions {
  const isNamed = scope === undefined || scope.isOwnHost(new URL(url));
  const asked = isNamed ? plan.scrape : withoutHeaders(plan.scrape);
  const options = asked.maxAge == null && maxAgeMs !== undefined ? { ...asked, maxAge: maxAgeMs } : asked;
  const needed = scope === undefined ? (["markdown"] as const) : (["markdown", "links"] as const);
  const further = needed.filter((name) => !wants(plan, name));
  return further.length === 0 ? options : { ...options, formats: [...formatsOf(plan), ...further] };
}

/** Whether the caller has requested this format. */
export function wants(plan: CrawlPlan, name: "markdown" | "links"): boolean {
  return formatsOf(plan).some((format) => format === name || objectOf(format)?.["type"] === name);
}

function formatsOf({ scrape }: CrawlPlan): NonNullable<ScrapeOptions["formats"]> {
  return scrape.formats ?? ["markdown"];
}
