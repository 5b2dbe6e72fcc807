/** The stored results of a crawl: documents as compressed JSON. */
import { type JsonObject, objectOf } from "../../core/index.ts";
import type { CrawlPlan } from "./crawl-request.ts";

/** Of zstd. */
const COMPRESSION_LEVEL = 3;

/** The text of a page, as it is compared with others and searched. */
export function documentText({ markdown }: JsonObject): string {
  return typeof markdown === "string" ? markdown : "";
}

/**
 * Markdown without the addresses of its links, which may differ from visit to visit. Takes linear time, since an address with a
 * parenthesis stays: a search for its end would begin again at each of many.
 */
export function withoutAddresses(markdown: string): string {
  return markdown.replaceAll(/\]\([^()\s]*\)/g, "]");
}

/** The document as it was requested. */
export function encodeDocument({ scrape }: CrawlPlan, document: JsonObject): Promise<Uint8Array> {
  const formats = scrape.formats ?? ["markdown"];
  const wantsMarkdown = formats.some((format) => format === "markdown" || objectOf(format)?.["type"] === "markdown");
  const { markdown: _, ...others } = document;
  return Bun.zstdCompress(JSON.stringify(wantsMarkdown ? document : others), { level: COMPRESSION_LEVEL });
}

/** The JSON text of a stored document. */
export async function decodeDocument(content: Uint8Array): Promise<string> {
  return Buffer.from(await Bun.zstdDecompress(content)).toString();
}
