/**
 * The content of a search result that the gateway has found. Clients keep it for the next request as `encrypted_content`, which they
 * do not read; it is a public page's text, so that only its form is sealed.
 */
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
