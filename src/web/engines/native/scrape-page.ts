import { BrowserError, type RenderedPage, type Screenshot } from "../../../browser/index.ts";
import { refuseChargeMax } from "../../../charges/index.ts";
import { type JsonObject, objectOf, parseObject, type Usage } from "../../../core/index.ts";
import { OutboundError } from "../../../outbound/index.ts";
import type { Page, PageAttribute } from "../../../pages/index.ts";
import type { MemoryShare } from "../../../streaming/index.ts";
import { BadReply } from "../../../upstream/index.ts";
import type { ScrapedPage, WorkContext } from "../../engine.ts";
import { chargedFailure, pageFailure, timeoutFailure } from "../../failures.ts";
import { changesOf, type ComparedReading, earlierVersion, type MadeFormats } from "./page-changes.ts";
import { askModel, needsModel } from "../../scrape/ask-model.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import { type PageReply, fetchPage } from "./fetch-page.ts";
import { atEitherScheme } from "./other-scheme.ts";
import { actionsDocument, dataUrl, renderPage } from "./render-page.ts";
import { refreshTarget } from "./refresh-target.ts";
import { type PageReading, type ReadPage, warned } from "./reading.ts";
import { readScans } from "./scans/read-scans.ts";
import { readFrames } from "./read-frames.ts";
import { cacheKeyOf, isCacheable, needsBrowser, type ScrapePlan } from "./scrape-plan.ts";
import type { ScrapeTime } from "./scrape-time.ts";
import { takeApart } from "./take-apart.ts";
import { COUNTRY_IGNORED, warningOf } from "./page-warning.ts";

/** A scrape from its beginning to the document. Rejects with a `GatewayError`, or with the reason of the signal. */
export async function scrapePage(
  deps: NativeDependencies,
  plan: ScrapePlan,
  context: WorkContext,
): Promise<ScrapedPage> {
  const memory = deps.memory.share();
  const until = performance.now() + plan.timeoutMs;
  const leftMs = (): number => until - performance.now();
  try {
    const earlier = await earlierVersion(deps, plan, context);
    const time = { left: () => Math.max(leftMs(), 1), signal: context.signal, owner: context.principal.user };
    const found = (await fromCache(deps, plan, context)) ?? (await fromWeb(deps, plan, time, memory));
    return await scraped(deps, plan, { reading: found, earlier }, { context, time });
  } catch (reason) {
    const error = chargedFailure(reason, plan) ?? pageFailure(reason);
    throw timeoutFailure(error, { code: "scrape_timeout", leftMs: leftMs() });
  } finally {
    memory.free();
  }
}

/** A page that was read, with all formats: covered before a model is asked. */
export async function scraped(
  deps: NativeDependencies,
  plan: ScrapePlan,
  { reading: found, earlier }: ComparedReading,
  { context, time }: { context: WorkContext; time: ScrapeTime },
): Promise<ScrapedPage> {
  const usage = usageOf(found.page);
  await context.cover(usage);
  const { reading, spent: readFor } = await readScans(deps, plan, found, { context, time });
  if (reading.cachedAt === undefined) await keepInCache(deps, plan, reading, time.owner);
  const { made, spent: madeFor, delivered } = await modelFormats(deps, plan, { reading, earlier }, context);
  const spent = readFor + madeFor;
  const document = await documentOf(deps, plan, { reading, made, context });
  const { status: statusCode, retryAfter } = reading;
  return { document, usage, spent, links: reading.page.links ?? [], statusCode, retryAfter, delivered };
}

/** The formats that are made of the page's markdown: by a model, and by a comparison with an earlier version. */
async function modelFormats(
  deps: NativeDependencies,
  plan: ScrapePlan,
  { reading, earlier }: ComparedReading,
  context: WorkContext,
): Promise<MadeFormats> {
  const { formats } = plan;
  const { headers, isWanted } = context;
  const { page, url, status } = reading;
  const { markdown = "" } = page;
  if (needsModel(formats) && headers !== undefined)
    refuseChargeMax(headers, "the calls of the model that makes formats");
  const { principal, workId: parent, names, signal } = context;
  const document = { markdown, metadata: { ...objectOf(page.metadata), url } };
  const mayAsk = !needsModel(formats) || isWanted === undefined || (await isWanted({ document, statusCode: status }));
  const asking = mayAsk ? { principal, parent, names, signal } : undefined;
  const changes = await changesOf(deps, plan, { reading, earlier }, { owner: principal.user, signal, asking });
  const { made, spent } =
    asking === undefined ? { made: {}, spent: 0n } : await askModel(deps.model, formats, markdown, asking);
  return { ...changes, made: { ...made, ...changes.made }, spent: spent + changes.spent };
}

/** Every page of a PDF but the first is charged by itself: the first one is the page. */
function usageOf({ pdfPages = 0 }: Page): Usage {
  return pdfPages > 1 ? { pages: 1, pdfPages: pdfPages - 1 } : { pages: 1 };
}

async function fromCache(
  { cache }: NativeDependencies,
  plan: ScrapePlan,
  { principal }: WorkContext,
): Promise<PageReading | undefined> {
  if (plan.maxAgeMs === 0 || !isCacheable(plan) || !URL.canParse(plan.url)) return undefined;
  const found = await cache.get(principal.user, cacheKeyOf(plan), plan.maxAgeMs);
  const read = found && parseObject(found.text);
  // Written by `keepInCache`.
  return read && { ...(read as unknown as ReadPage), cachedAt: found.storedAt };
}

function fromWeb(
  deps: NativeDependencies,
  plan: ScrapePlan,
  time: ScrapeTime,
  memory: MemoryShare,
): Promise<PageReading> {
  return atEitherScheme(plan.sourceUrl, (url) => readFromWeb(deps, { ...plan, url }, time, memory));
}

async function keepInCache(
  { cache }: NativeDependencies,
  plan: ScrapePlan,
  reading: PageReading,
  owner: string,
): Promise<void> {
  const { rendered: _, retryAfter: _r, scan: _s, ...read } = reading;
  if (plan.storesInCache && isCacheable(plan) && isLasting(read))
    await cache.put(owner, cacheKeyOf(plan), JSON.stringify(read));
}

/** Failures of a target are not kept: they may be over in a minute. */
function isLasting({ status, page }: ReadPage): boolean {
  return status < 400 && page.warning === undefined && page.doubt === undefined;
}

async function readFromWeb(
  deps: NativeDependencies,
  plan: ScrapePlan,
  time: ScrapeTime,
  memory: MemoryShare,
): Promise<PageReading> {
  let viewed: RenderedPage | undefined;
  if (needsBrowser(plan)) {
    try {
      const reading = await readRendered(deps, plan, time);
      if (!isInViewer(reading) || plan.actions.length > 0) return reading;
      viewed = reading.rendered;
    } catch (reason) {
      const isFile = reason instanceof BrowserError && reason.failure === "not_a_page";
      if (!isFile || plan.formats.screenshot !== undefined || plan.actions.length > 0) throw reason;
    }
  }
  const { asked, fetched } = await followRefreshes(deps, plan, time, memory);
  if ("isRendered" in fetched) return fetched;
  let page = await takeApart(deps, plan, fetched, time);
  if (page.frames !== undefined && !page.needsBrowser) {
    const frames = await readFrames(deps, asked, { addresses: page.frames, memory }, time);
    page = await takeApart(deps, plan, { ...fetched, frames }, time);
  }
  const { url, status, contentType, retryAfter } = fetched;
  const read: PageReading = { page, url, status, contentType, isRendered: false, rendered: viewed, retryAfter };
  if (page.scannedPages !== undefined) read.scan = fetched;
  return page.needsBrowser ? renderedInstead(deps, asked, time, read) : read;
}

/** A browser shows text, JSON and XML in a page of its own, which is not what the document says. */
function isInViewer({ contentType = "" }: PageReading): boolean {
  return /^(text|application)\//i.test(contentType) && !/html/i.test(contentType);
}

/** Pages that send their reader on to the next one. */
const REFRESHES_MAX = 3;

interface Followed {
  /** With the last page's address, and without headers that are not meant for it. */
  asked: ScrapePlan;
  fetched: PageReply | PageReading;
}

async function followRefreshes(
  deps: NativeDependencies,
  plan: ScrapePlan,
  time: ScrapeTime,
  memory: MemoryShare,
): Promise<Followed> {
  let followed: Followed = { asked: plan, fetched: await fetchOrRender(deps, plan, time, memory) };
  for (let refreshes = 0; refreshes < REFRESHES_MAX; refreshes += 1) {
    const { asked, fetched } = followed;
    const url = "isRendered" in fetched ? undefined : refreshTarget(fetched);
    if (url === undefined) break;
    const next = { ...asked, url, headers: isSameOrigin(fetched.url, url) ? asked.headers : {} };
    followed = { asked: next, fetched: await fetchOrRender(deps, next, time, memory).catch(afterAnswer) };
  }
  return followed;
}

/** The page before has answered. */
function afterAnswer(reason: unknown): never {
  if (reason instanceof OutboundError) reason.hasAnswered = true;
  throw reason;
}

function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

async function fetchOrRender(
  deps: NativeDependencies,
  plan: ScrapePlan,
  time: ScrapeTime,
  memory: MemoryShare,
): Promise<PageReply | PageReading> {
  const { userAgent, pageBytesMax: bytesMax } = deps;
  const { url, headers, languages, mobile } = plan;
  const agent = mobile ? PHONE : userAgent;
  const page = { url, headers, languages, userAgent: agent, timeoutMs: time.left(), bytesMax, memory };
  try {
    return await fetchPage(deps.outbound, { ...page, signal: time.signal });
  } catch (reason) {
    if (!isForBrowsers(reason) || "missing" in deps.browser.available()) throw reason;
    try {
      return await readRendered(deps, plan, time);
    } catch {
      throw reason;
    }
  }
}

/** Redirects that only end for a client that keeps all cookies, and answers that are HTTP only to a lenient reader. */
function isForBrowsers(reason: unknown): boolean {
  return reason instanceof OutboundError && (reason.failure === "redirects" || reason.cause instanceof BadReply);
}

const PHONE =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36";

/** A page that scripts make is read in a browser; if that fails, the page without one will do. */
async function renderedInstead(
  deps: NativeDependencies,
  plan: ScrapePlan,
  time: ScrapeTime,
  plain: PageReading,
): Promise<PageReading> {
  const availability = deps.browser.available();
  if ("missing" in availability) {
    return warned(plain, `Scripts make this page, and no browser could run them: ${availability.missing}.`);
  }
  try {
    const rendered = await readRendered(deps, plan, time);
    return isWorse(rendered, plain) ? plain : { ...rendered, retryAfter: plain.retryAfter };
  } catch (reason) {
    if (time.signal.aborted) throw reason;
    if (!(reason instanceof BrowserError)) throw reason;
    deps.logger.info({ failure: reason.failure, reason: reason.message }, "a page was read without a browser");
    return warned(plain, `Scripts make this page, and running them failed: ${reason.message}.`);
  }
}

/** Characters of a page from which on it is more than a message that it is being loaded. */
const textCharactersMin = 200;

/** Whether scripts that failed took away what the page had without them. */
function isWorse(rendered: PageReading, plain: PageReading): boolean {
  if (rendered.url !== plain.url) return false;
  const [after, before] = [sizeOf(rendered.page), sizeOf(plain.page)];
  return after === 0 ? before > 0 : before >= textCharactersMin && after < before / 2;
}

/** The characters of a page, in the form that was asked for. */
function sizeOf({ markdown, html, links = [] }: Page): number {
  return (markdown ?? html ?? links.join("")).length;
}

async function readRendered(deps: NativeDependencies, plan: ScrapePlan, time: ScrapeTime): Promise<PageReading> {
  const { owner, left, signal } = time;
  const rendered = await renderPage(deps.browser, plan, { owner, timeoutMs: left(), signal });
  const { url, status, html, warning } = rendered;
  const contentType = rendered.contentType ?? "text/html";
  const page = await takeApart(deps, plan, { url, bytes: html, contentType: "text/html; charset=utf-8" }, time);
  const reading = { page, url, status, contentType, isRendered: true, rendered };
  return warning === undefined ? reading : warned(reading, warning);
}

interface Made {
  reading: PageReading;
  made: object;
  context: WorkContext;
}

async function documentOf(
  { screenshots }: NativeDependencies,
  { formats, sourceUrl, onlyMainContent, includeTags, hasCountry }: ScrapePlan,
  { reading, made, context }: Made,
): Promise<JsonObject> {
  const { page, url, status, contentType, isRendered, rendered, cachedAt } = reading;
  const { names } = formats;
  const owner = context.principal.user;
  const toAddress = (screenshot: Screenshot): Promise<string> | string =>
    screenshots === undefined
      ? dataUrl(screenshot)
      : screenshots.keep({ owner, mediaType: screenshot.type, content: screenshot.bytes });
  const { screenshot, actions } = rendered ?? {};
  const own = warningOf(page, { isRendered, onlyMainContent, hasSelectors: includeTags.length > 0 });
  const warnings = [own, hasCountry ? COUNTRY_IGNORED : undefined].filter((each) => each !== undefined);
  return {
    ...(names.has("markdown") && { markdown: page.markdown ?? "" }),
    ...(names.has("html") && { html: page.html ?? "" }),
    ...(names.has("rawHtml") && { rawHtml: page.rawHtml ?? "" }),
    ...(names.has("links") && { links: page.links ?? [] }),
    ...(names.has("images") && { images: page.images ?? [] }),
    ...(formats.attributes.length > 0 && { attributes: attributesOf(page, formats.attributes) }),
    ...made,
    ...(screenshot && { screenshot: await toAddress(screenshot) }),
    ...(actions && { actions: await actionsDocument(actions, async (each) => toAddress(each)) }),
    ...(warnings.length > 0 && { warning: warnings.join(" ") }),
    metadata: {
      ...objectOf(page.metadata),
      sourceURL: sourceUrl,
      url,
      statusCode: status,
      ...(status >= 400 && { error: await nameOf(status) }),
      ...(contentType !== undefined && { contentType }),
      ...(page.pdfPages !== undefined && { numPages: page.pdfPages }),
      ...(page.totalPdfPages !== undefined && { totalPages: page.totalPdfPages }),
      proxyUsed: "basic",
      ...(cachedAt === undefined
        ? { cacheState: "miss" }
        : { cacheState: "hit", cachedAt: new Date(cachedAt).toISOString() }),
      scrapeId: context.workId,
    },
  };
}

/** A document that is no HTML has no attributes. */
function attributesOf({ attributes }: Page, wanted: readonly PageAttribute[]): JsonObject[] {
  return (attributes ?? wanted.map((each) => ({ ...each, values: [] }))).map((each) => ({ ...each }));
}

/** A status with its reason. The table comes with an HTTP stack that nothing else needs, and is loaded when it is looked at. */
async function nameOf(status: number): Promise<string> {
  const { STATUS_CODES } = await import("node:http");
  return `${status} ${STATUS_CODES[status] ?? ""}`.trim();
}
