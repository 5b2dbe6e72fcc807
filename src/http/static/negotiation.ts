/** The parts of a request that decide in which form a file is sent, and whether at all. */

/**
 * Whether the client has this version already. It may name several, and a proxy that compresses makes them weak (RFC 9110,
 * 13.1.2).
 */
export function hasVersion({ headers }: Request, etag: string): boolean {
  const tags = (headers.get("if-none-match") ?? "").split(",").map((tag) => tag.trim());
  return tags.some((tag) => tag === "*" || tag.replace(/^W\//, "") === etag);
}

/** Whether the client takes a content coding. `gzip;q=0` refuses it (RFC 9110, 12.5.3). */
export function takesCoding({ headers }: Request, coding: "br" | "gzip"): boolean {
  const codings = (headers.get("accept-encoding") ?? "").toLowerCase().split(",");
  return codings.some((each) => {
    const [name = "", ...parameters] = each.split(";").map((part) => part.trim());
    const isMeant = name === coding || (coding === "gzip" && name === "x-gzip");
    return isMeant && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
