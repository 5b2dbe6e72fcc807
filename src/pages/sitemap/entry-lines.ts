/**
 * Entries as lines of bytes: `address` or `address<tab>title`. A hundred thousand of them as JSON would hold up the gateway's
 * thread until the last is decoded; lines are decoded one by one, when they are needed.
 */
import type { SitemapEntry } from "./sitemap.ts";

const TAB = "\t";
const LINE_FEED = 10;

/** Addresses have no white space, and that of titles makes no difference. */
export function encodeEntries(entries: Iterable<SitemapEntry>): Uint8Array {
  const lines: string[] = [];
  for (const { url, title } of entries) {
    lines.push(title === undefined ? `${url}\n` : `${url}${TAB}${title.replaceAll(/\s+/g, " ")}\n`);
  }
  return Buffer.from(lines.join(""));
}

/** The entries of such lines. Each loop over them decodes them again. */
export function decodeEntries(bytes: Uint8Array): Iterable<SitemapEntry> {
  return { [Symbol.iterator]: () => entriesOf(bytes) };
}

function* entriesOf(bytes: Uint8Array): Generator<SitemapEntry, undefined> {
  const decoder = new TextDecoder();
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, start);
    const [url = "", title] = decoder.decode(bytes.subarray(start, end)).split(TAB);
    yield title === undefined ? { url } : { url, title };
    start = end + 1;
  }
}
