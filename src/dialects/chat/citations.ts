import { type JsonObject, objectOf } from "../../core/index.ts";
import type { Citation } from "../conversation/index.ts";

/** An annotation of a message. */
export function readCitation(annotation: JsonObject): Citation | undefined {
  const place = objectOf(annotation["url_citation"]);
  const url = place?.["url"];
  if (place === undefined || typeof url !== "string") return undefined;
  return {
    kind: "url",
    url,
    title: textOf(place["title"]),
    start: numberOf(place["start_index"]),
    end: numberOf(place["end_index"]),
  };
}

/** `from` and `to`: where the cited block stands in the message. Citations of other kinds have no counterpart here. */
export function writeCitations(citations: readonly Citation[], from: number, to: number): JsonObject[] {
  return citations
    .filter((citation) => citation.kind === "url")
    .map(({ url, title = "", start, end }) => ({
      type: "url_citation",
      url_citation: {
        start_index: start === undefined ? from : from + start,
        end_index: end === undefined ? to : from + end,
        url,
        title,
      },
    }));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}
