import type { PageRequest } from "../page.ts";

/** A request for Markdown of a whole page. */
export function pageRequest(changes: Partial<PageRequest> = {}): PageRequest {
  return {
    url: "https://site.test/docs/page",
    contentType: "text/html; charset=utf-8",
    wants: { markdown: true },
    onlyMainContent: false,
    includeTags: [],
    excludeTags: [],
    removeBase64Images: true,
    pdf: { parse: true, pagesMax: 100 },
    ...changes,
  };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
