import { type JsonObject, objectOf, objectsOf, stringOf } from "../../../core/index.ts";
import type { Citation } from "../../conversation/index.ts";

/** The pages that an answer rests on. Their places in the text are in bytes of parts that a stream cuts, and are left out. */
export function readGrounding(candidate: JsonObject): Citation[] {
  const metadata = objectOf(candidate["groundingMetadata"]);
  return objectsOf(metadata?.["groundingChunks"]).flatMap((chunk): Citation[] => {
    const web = objectOf(chunk["web"]);
    const url = stringOf(web?.["uri"]);
    return url === "" ? [] : [{ kind: "url", url, title: stringOf(web?.["title"]) || undefined }];
  });
}

/** The member of a candidate; none without pages. */
export function writeGrounding(citations: readonly Citation[]): JsonObject {
  const pages = new Map<string, string>();
  for (const citation of citations) {
    if (citation.kind === "url" && !pages.has(citation.url)) pages.set(citation.url, citation.title ?? "");
  }
  if (pages.size === 0) return {};
  return { groundingMetadata: { groundingChunks: [...pages].map(([uri, title]) => ({ web: { uri, title } })) } };
}
