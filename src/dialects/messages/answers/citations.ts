import type { JsonObject } from "../../../core/index.ts";
import { type Citation, tagSignature, untagSignature } from "../../conversation/index.ts";

/**
 * A citation of a text block. Web pages have counterparts in other dialects; positions in the caller's documents do
 * not.
 */
export function readCitation(citation: JsonObject, origin?: string): Citation {
  const { type, url, title, cited_text: quoted, encrypted_index: index } = citation;
  if (type !== "web_search_result_location" || typeof url !== "string") {
    return { kind: "native", dialect: "messages", value: citation };
  }
  return {
    kind: "url",
    url,
    title: typeof title === "string" ? title : undefined,
    quoted: typeof quoted === "string" && quoted !== "" ? quoted : undefined,
    sealed: typeof index === "string" && index !== "" ? readIndex(index, origin) : undefined,
  };
}

function readIndex(index: string, origin: string | undefined) {
  return origin === undefined ? untagSignature(index, "messages").signature : { origin, value: index };
}

export function writeCitation(citation: Citation): JsonObject | undefined {
  if (citation.kind === "native") return citation.dialect === "messages" ? citation.value : undefined;
  const { url, title = url, quoted = "", sealed } = citation;
  return {
    type: "web_search_result_location",
    cited_text: quoted,
    encrypted_index: sealed === undefined ? "" : tagSignature(sealed, "cipher", "messages"),
    title,
    url,
  };
}
