import type { RenderedPage } from "../../../browser/index.ts";
import type { Page } from "../../../pages/index.ts";
import type { PageReply } from "./fetch-page.ts";

/** A page that has been read, from the web or from the cache: plain data. */
export interface ReadPage {
  page: Page;
  url: string;
  status: number;
  contentType: string | undefined;
  isRendered: boolean;
}

export interface PageReading extends ReadPage {
  rendered?: RenderedPage | undefined;
  cachedAt?: number | undefined;
  /** Of the answer without a browser. */
  retryAfter?: string | undefined;
  /** The PDF, if pages of it are pictures. */
  scan?: PageReply | undefined;
}

/** Adds a warning to those of the page. */
export function warned(reading: PageReading, warning: string): PageReading {
  const { page } = reading;
  return {
    ...reading,
    page: { ...page, warning: page.warning === undefined ? warning : `${page.warning} ${warning}` },
  };
}
