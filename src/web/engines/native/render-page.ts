import { type CallSignal, GatewayError } from "../../../core/index.ts";
import type { ActionResults, PageAction, RenderedPage, Screenshot } from "../../../browser/index.ts";
import type { PageRenderer } from "../../web-dependencies.ts";
import type { ScrapePlan } from "./scrape-plan.ts";

/** Throws 422 if the machine has no browser, naming the member that needs one. */
export function requireBrowser(browser: PageRenderer, { formats, actions }: ScrapePlan): void {
  const availability = browser.available();
  if (!("missing" in availability)) return;
  const param = formats.screenshot !== undefined ? "formats" : actions.length > 0 ? "actions" : "waitFor";
  throw new GatewayError("browser_unavailable", `${param}: ${availability.missing}.`, { param });
}

/** Renders the page as the plan asks. Rejects as `Browser.render` does. */
export function renderPage(
  browser: PageRenderer,
  plan: ScrapePlan,
  { owner, timeoutMs, signal }: { owner: string; timeoutMs: number; signal: CallSignal },
): Promise<RenderedPage> {
  const { url, headers, waitForMs, mobile, actions, formats, languages, blockAds } = plan;
  return browser.render({
    owner,
    url,
    headers,
    timeoutMs,
    waitForMs,
    mobile,
    // Each has passed a schema of the same members.
    ...(actions.length > 0 && { actions: actions as PageAction[] }),
    screenshot: formats.screenshot,
    ...(languages.length > 0 && { location: { languages } }),
    blockAds,
    signal,
  });
}

/** A picture as a `data:` URL. */
export function dataUrl({ type, bytes }: Screenshot): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

/** The results of actions, in the form of Firecrawl's documents. */
export async function actionsDocument(results: ActionResults, toAddress: (screenshot: Screenshot) => Promise<string>) {
  const { screenshots, scrapes, javascriptReturns, pdfs } = results;
  return {
    screenshots: await Promise.all(screenshots.map(toAddress)),
    scrapes: scrapes.map(({ url, html }) => ({ url, html: Buffer.from(html).toString() })),
    javascriptReturns,
    pdfs: pdfs.map((pdf) => `data:application/pdf;base64,${Buffer.from(pdf).toString("base64")}`),
  };
}
