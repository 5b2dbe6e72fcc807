/** The content of a search result that the gateway has found, in the form that it has without a key: see `SealedResults`. */
const PREFIX = "tollgate.";

/** The beginning of such a content: nine bytes are whole groups of base64. */
export const ownResultStart = Buffer.from(PREFIX).toString("base64");

export function packResult(text: string): string {
  return Buffer.from(PREFIX + text).toString("base64");
}

/** Undefined for the content of another maker. */
export function unpackResult(content: unknown): string | undefined {
  if (typeof content !== "string" || !content.startsWith(ownResultStart)) return undefined;
  return Buffer.from(content, "base64").toString("utf8").slice(PREFIX.length);
}
