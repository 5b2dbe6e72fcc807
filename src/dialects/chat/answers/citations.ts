import { type JsonObject, objectOf } from "../../../core/index.ts";
import type { Citation } from "../../conversation/index.ts";

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

/** The pages that an upstream with its own search lists beside its answer: with titles, or only as URLs. */
export function readSources(chunk: JsonObject): Citation[] | undefined {
  const { search_results: results, citations } = chunk;
  const list: readonly unknown[] | undefined = Array.isArray(results)
    ? results
    : Array.isArray(citations)
      ? citations
      : undefined;
  return list?.map(readSource).filter((source) => source !== undefined);
}

function readSource(value: unknown): Citation | undefined {
  const url = typeof value === "string" ? value : objectOf(value)?.["url"];
  return typeof url === "string" ? { kind: "url", url, title: textOf(objectOf(value)?.["title"]) } : undefined;
}

/**
 * `from` and `to`: the position of the cited block in the message. Other kinds of citations have no counterpart here.
 */
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
