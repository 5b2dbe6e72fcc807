/** The documents of a crawl: their texts, and what is stored of them. */
import { type JsonObject, objectOf } from "../../core/index.ts";
import { compressText } from "../compress.ts";
import type { CrawlPlan } from "./crawl-request.ts";

/** The text of a page, as it is compared with others and searched. */
export function documentText({ markdown }: JsonObject): string {
  return typeof markdown === "string" ? markdown : "";
}

/** The document as it was requested, as compressed JSON. */
export async function encodeDocument({ scrape }: CrawlPlan, document: JsonObject): Promise<Uint8Array> {
  const formats = scrape.formats ?? ["markdown"];
  const wantsMarkdown = formats.some((format) => format === "markdown" || objectOf(format)?.["type"] === "markdown");
  const { markdown: _, ...others } = document;
  return compressText(JSON.stringify(wantsMarkdown ? document : others));
}
