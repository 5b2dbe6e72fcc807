import type { JsonObject } from "../../../core/index.ts";
import type { Citation } from "../../conversation/index.ts";

/** An annotation of text. Web pages have counterparts in other dialects; positions in stored files do not. */
export function readCitation(annotation: JsonObject): Citation {
  const { type, url, title, start_index: start, end_index: end } = annotation;
  if (type !== "url_citation" || typeof url !== "string") {
    return { kind: "native", dialect: "responses", value: annotation };
  }
  return {
    kind: "url",
    url,
    title: typeof title === "string" ? title : undefined,
    start: indexOf(start),
    end: indexOf(end),
  };
}

/** `text`: the cited text, which a citation without a range covers completely. */
export function writeCitations(citations: readonly Citation[], text: string): JsonObject[] {
  return citations.flatMap((citation) => {
    if (citation.kind === "native") return citation.dialect === "responses" ? [citation.value] : [];
    const { url, title = "", start = 0, end = text.length } = citation;
    return [{ type: "url_citation", start_index: start, end_index: end, url, title }];
  });
}

function indexOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}
