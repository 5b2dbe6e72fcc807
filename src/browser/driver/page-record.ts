import type { ActionResults, RenderedPage, Screenshot } from "../render-request.ts";
import type { PageRecord } from "./messages.ts";

/** Splits a page into a record for JSON and the bytes that it refers to. */
export function recordOf(page: RenderedPage): { record: PageRecord; parts: Uint8Array[] } {
  const parts: Uint8Array[] = [];
  const add = (bytes: Uint8Array): number => parts.push(bytes) - 1;
  const shot = ({ type, bytes }: Screenshot): { type: Screenshot["type"]; bytes: number } => ({
    type,
    bytes: add(bytes),
  });
  const { url, status, headers, contentType, html, screenshot, actions, warning } = page;
  const record: PageRecord = {
    url,
    status,
    headers,
    contentType,
    html: add(html),
    screenshot: screenshot && shot(screenshot),
    actions: actions && {
      screenshots: actions.screenshots.map(shot),
      scrapes: actions.scrapes.map((scrape) => ({ url: scrape.url, html: add(scrape.html) })),
      javascriptReturns: actions.javascriptReturns,
      pdfs: actions.pdfs.map(add),
    },
    warning,
  };
  return { record, parts };
}

/** Throws if the record refers to bytes that are not there. */
export function pageOf(record: PageRecord, parts: readonly Uint8Array[]): RenderedPage {
  const get = (index: number): Uint8Array => {
    const bytes = parts[index];
    if (bytes === undefined) throw new RangeError(`the message has no part ${index}`);
    return bytes;
  };
  const shot = ({ type, bytes }: { type: Screenshot["type"]; bytes: number }): Screenshot => ({
    type,
    bytes: get(bytes),
  });
  const { url, status, headers, contentType, html, screenshot, actions, warning } = record;
  return {
    url,
    status,
    headers,
    contentType,
    html: get(html),
    ...(screenshot && { screenshot: shot(screenshot) }),
    ...(actions && { actions: resultsOf(actions, { get, shot }) }),
    ...(warning !== undefined && { warning }),
  };
}

interface Readers {
  get: (index: number) => Uint8Array;
  shot: (record: { type: Screenshot["type"]; bytes: number }) => Screenshot;
}

function resultsOf(actions: NonNullable<PageRecord["actions"]>, { get, shot }: Readers): ActionResults {
  return {
    screenshots: actions.screenshots.map(shot),
    scrapes: actions.scrapes.map((scrape) => ({ url: scrape.url, html: get(scrape.html) })),
    javascriptReturns: actions.javascriptReturns.map(({ type, value }) => ({ type, value })),
    pdfs: actions.pdfs.map(get),
  };
}
