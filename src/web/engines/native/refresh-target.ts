import { escapeBytes } from "../../../outbound/index.ts";
import type { PageReply } from "./fetch-page.ts";

/**
 * Bytes of a page that does nothing but send its reader on; larger ones have a text of their own. It is searched in the
 * gateway's own process, which takes milliseconds at this size at worst.
 */
const PAGE_BYTES_MAX = 4_096;

/** Seconds after which a page may send its reader on; a longer wait means that it is to be read, or reloads itself. */
const SECONDS_MAX = 5;

/** Characters of a header that are looked at. */
const HEADER_CHARACTERS_MAX = 4_096;

/** Parts of a page that browsers do not obey. */
const ignored = /<!--[\s\S]*?-->|<(noscript|script|style|template|textarea)\b[\s\S]*?<\/\1\s*>/gi;
const metaTag = /<meta\s[^>]{0,2000}>/gi;
const refresh = /\bhttp-equiv\s*=\s*["']?\s*refresh\b/i;
const content = /\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)')/i;

/** The address that a page sends its reader on to, with a header or with `<meta http-equiv="refresh">`; undefined if it does not. */
export function refreshTarget({ bytes, url, contentType, refresh: header }: PageReply): string | undefined {
  const isSmall = bytes.length <= PAGE_BYTES_MAX;
  // A browser never shows a page whose header sends its reader on at once.
  if (header !== undefined && (isSmall || /^\s*0+(?!\d)/.test(header))) return targetOf(header, url);
  if (!isSmall || contentType?.includes("html") === false) return undefined;
  // Tags are ASCII in every encoding that pages of this size have.
  const text = Buffer.from(bytes).toString("latin1").replaceAll(ignored, "");
  const tag = text.match(metaTag)?.find((one) => refresh.test(one));
  if (tag === undefined) return undefined;
  const [, quoted, apostrophed] = content.exec(tag) ?? [];
  return targetOf((quoted ?? apostrophed ?? "").replaceAll("&amp;", "&"), url);
}

function targetOf(instruction: string, url: string): string | undefined {
  const [, seconds, target] =
    /^\s*(\d+)(?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?([^"']*)/i.exec(instruction.slice(0, HEADER_CHARACTERS_MAX)) ?? [];
  if (target === undefined || Number(seconds) > SECONDS_MAX) return undefined;
  const next = URL.parse(escapeBytes(target.trim()), url);
  if (next === null || !/^https?:$/.test(next.protocol)) return undefined;
  next.hash = "";
  return next.href === url ? undefined : next.href;
}
