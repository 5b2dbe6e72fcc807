import { abortSignalOf } from "../../../core/index.ts";
import type { Page, PageRequest } from "../../../pages/index.ts";
import type { PageReply } from "./fetch-page.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import { pageFormatsOf, type ScrapePlan } from "./scrape-plan.ts";
import type { ScrapeTime } from "./scrape-time.ts";

/** The parts of a page that a scrape asks for. */
export function takeApart(
  deps: Pick<NativeDependencies, "pages">,
  plan: ScrapePlan,
  { frames, ...reply }: Omit<PageReply, "status"> & Pick<PageRequest, "frames">,
  time: ScrapeTime,
): Promise<Page> {
  const { formats, onlyMainContent, includeTags, excludeTags, removeBase64Images, pdf } = plan;
  const wants = pageFormatsOf(formats);
  const request = { wants, onlyMainContent, includeTags, excludeTags, removeBase64Images, pdf };
  return readParts(deps, reply, frames === undefined ? request : { ...request, frames }, time);
}

/** The time that is left of the request's bounds this as well, however long other pages keep the children busy. */
export function readParts(
  { pages }: Pick<NativeDependencies, "pages">,
  { bytes, url, contentType }: Omit<PageReply, "status">,
  request: Omit<PageRequest, "url" | "contentType">,
  { left, signal, owner }: ScrapeTime,
): Promise<Page> {
  const options = { owner, signal: abortSignalOf(signal), timeoutMs: left() };
  return pages.takeApart(bytes, { url, contentType, ...request }, options);
}
