import type { Source } from "./parts.ts";
import { invalid } from "./read.ts";

/** Throws if the text is not base64. One native pass over the text; nothing is copied. */
export function checkBase64(data: string, at: string): void {
  try {
    if (data !== "" && Uint8Array.fromBase64(data).length > 0) return;
  } catch {
    // Reported below, without repeating a possible megabyte.
  }
  throw invalid(at, "must be base64");
}

/** A parsed `data:` URL, or any other URL unchanged. The data is a view of the URL's string, not a copy. */
export function sourceOfUrl(url: string, at: string): Source {
  if (!/^data:/i.test(url)) {
    if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(url)) throw invalid(at, "must be a URL or a data: URL");
    return { kind: "url", url };
  }
  const comma = url.indexOf(",");
  const head = comma === -1 ? "" : url.slice("data:".length, comma);
  const [, mediaType] = /^([^;,]+)(?:;[^;,]+)*;base64$/i.exec(head) ?? [];
  if (mediaType === undefined) throw invalid(at, "must be a data: URL with a media type and base64");
  const data = url.slice(comma + 1);
  checkBase64(data, at);
  return { kind: "base64", mediaType, data };
}

/** The source of an image in an answer, which is not checked: a client gets what the upstream has sent. */
export function sourceOfAnswer(url: string): Extract<Source, { kind: "base64" | "url" }> {
  const [head, mediaType] = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i.exec(url.slice(0, DATA_HEAD_MAX)) ?? [];
  return head === undefined || mediaType === undefined
    ? { kind: "url", url }
    : { kind: "base64", mediaType, data: url.slice(head.length) };
}

/** The characters of a `data:` URL before its data. */
const DATA_HEAD_MAX = 256;

/** Backwards. */
export function urlOfSource(source: Extract<Source, { kind: "base64" | "url" }>): string {
  return source.kind === "url" ? source.url : `data:${source.mediaType};base64,${source.data}`;
}
