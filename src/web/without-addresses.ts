/**
 * Markdown without the addresses of its links, which may differ from visit to visit. Takes linear time, since an address with a
 * parenthesis stays: a search for its end would begin again at each of many.
 */
export function withoutAddresses(markdown: string): string {
  return markdown.replaceAll(/\]\([^()\s]*\)/g, "]");
}
