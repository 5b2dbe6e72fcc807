/** The documents of a crawl: their texts, and the stored form. */
import { type JsonObject, objectOf } from "../../core/index.ts";
import { compressText } from "../compress.ts";
import type { PageRead } from "../engine.ts";
import { documentForV1 } from "../v1/index.ts";
import { withoutAddresses } from "../without-addresses.ts";
import type { CrawlPlan } from "./crawl-request.ts";
import type { OpenCrawl } from "./open-crawl.ts";
import { hashOf } from "./page-address.ts";
import { wants } from "./page/page-options.ts";

/** Pages with less text are often alike and still different, such as errors. */
const DIGEST_CHARACTERS_MIN = 100;

/** Equal for pages of which one repeats the other; `final` is the address at which the page was read. Undefined for a page of a batch. */
export function digestOf(
  { scope }: OpenCrawl,
  { document: { markdown, metadata }, statusCode }: PageRead,
  final: URL | undefined,
): string | undefined {
  if (scope === undefined) return undefined;
  const text = typeof markdown === "string" ? withoutAddresses(markdown) : "";
  const title = objectOf(metadata)?.["title"];
  if (statusCode < 400 && text.length >= DIGEST_CHARACTERS_MIN) return hashOf(`${String(title)}\n${text}`);
  // Others differ by the address at which they were read: many addresses may redirect to one.
  return final && hashOf(`at ${scope.pageAt(final, 0).key}`);
}

/** The document as it was requested, as compressed JSON. A job of v1 that names `extract` has its object by both names. */
export async function encodeDocument(plan: CrawlPlan, read: JsonObject): Promise<Uint8Array> {
  const { markdown, links, ...others } = documentForV1(read, plan.namesExtract === true);
  const document = {
    ...(wants(plan, "markdown") && { markdown }),
    ...others,
    ...(wants(plan, "links") && { links }),
  };
  return compressText(JSON.stringify(document));
}
