/** The stored results of a crawl: documents as compressed JSON. */
import { type JsonObject, objectOf } from "../../core/index.ts";
import type { CrawlPlan } from "./crawl-request.ts";

/** Of zstd. */
const COMPRESSION_LEVEL = 3;

/** The text of a page, as it is compared with others and searched. */
export function documentText({ markdown }: JsonObject): string {
  return typeof markdown === "string" ? markdown : "";
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
