import { readHtml } from "../../html/read-html.ts";
import type { Page, PageMetadata, PageRequest } from "../../page.ts";

/** A document as HTML, with what is known about it. */
export interface OfficeHtml {
  html: string;
  metadata: PageMetadata;
  /** Parts that are missing, for people. */
  warning?: string;
}

/** The page of a document that was written as HTML: all of it is content. */
export function officePage({ html, metadata, warning }: OfficeHtml, request: PageRequest): Omit<Page, "kind"> {
  const page = readHtml(html, { ...request, onlyMainContent: false });
  return {
    ...page,
    metadata: { ...page.metadata, ...metadata },
    needsBrowser: false,
    ...(warning !== undefined && { warning }),
  };
}
