/** The identity of pages by their addresses: what makes no difference to the page is left out. */
import { createHash } from "node:crypto";
import { limits } from "../../core/index.ts";
import { bareHost } from "../map/address-set.ts";

/** Characters of a key: 132 bits of a hash. */
const KEY_CHARACTERS = 22;

/** Parameters that name a visit or its origin, never a page; some only if their value is as long as that of a visit. */
const VISIT_PARAMETER =
  /[?&](?:(?:utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|_ga|_gl|yclid|igshid|phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken)(?=[=&]|$)|(?:sessionid|session_id|sid|s_id)=[\w,.-]{16,}(?=&|$))/i;

/** A session in the path, as servlets write it. */
const PATH_SESSION = /;(?:jsessionid|sid|phpsessid)=[^/;?]*/gi;

/** Files that hold no text. */
const NO_PAGE =
  /\.(?:png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|css|m?js|map|woff2?|ttf|otf|eot|mp[34]|m4[av]|wav|ogg|webm|avi|mov|flv|mkv|zip|gz|tgz|bz2|xz|7z|rar|tar|exe|dmg|msi|deb|rpm|apk|iso|bin|jar|wasm)$/i;

/** An address that was named, as it is requested; undefined for one that cannot be a page. */
export function namedAddress(text: string): URL | undefined {
  if (text.length > limits.outboundUrlCharactersMax || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  if (text.includes("#")) url.hash = "";
  return url.href.length > limits.outboundUrlCharactersMax ? undefined : url;
}

/** An address that was found, as it is requested: without what names a visit. Undefined for one that cannot be a page. */
export function pageAddress(text: string): URL | undefined {
  const url = namedAddress(text);
  if (url === undefined) return undefined;
  // Pages have hundreds of links, and each of these parts takes longer than to read the address.
  if (url.pathname.includes(";")) url.pathname = url.pathname.replaceAll(PATH_SESSION, "");
  if (VISIT_PARAMETER.test(url.search)) {
    for (const [name, value] of new URLSearchParams(url.search)) {
      if (VISIT_PARAMETER.test(`?${name}=${value}`)) url.searchParams.delete(name, value);
    }
  }
  // Deleting a parameter writes the query again, and its escapes may make the address longer.
  return url.href.length > limits.outboundUrlCharactersMax ? undefined : url;
}

/** Whether the path ends like that of a picture, a program or another file without text. */
export function isFile({ pathname }: URL): boolean {
  return NO_PAGE.test(pathname);
}

/**
 * Equal for http and https, www and none, a last slash or none, an index file or none, any order of the query and either case of
 * escapes.
 */
export function pageKey(url: URL, { ignoresQuery }: { ignoresQuery: boolean }): string {
  const path = url.pathname.replace(/\/index\.(?:html?|php|aspx?)$/i, "/").replace(/\/+$/, "");
  const escapes = path.includes("%") ? path.replaceAll(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase()) : path;
  return hashOf(`${bareHost(url.host)}${escapes}?${ignoresQuery ? "" : sortedQuery(url)}`);
}

/** A query whose names and values can be written in one way only. */
const PLAIN_QUERY = /^\?[\w.*-]+=[\w.*-]+(?:&[\w.*-]+=[\w.*-]+)*$/;

/** Most queries are plain, and to sort their text takes a fraction of the time. */
function sortedQuery(url: URL): string {
  const { search } = url;
  if (search === "") return "";
  if (PLAIN_QUERY.test(search)) return search.slice(1).split("&").toSorted().join("&");
  return new URLSearchParams([...url.searchParams].toSorted(byText)).toString();
}

function byText([a, x]: [string, string], [b, y]: [string, string]): number {
  const [one, other] = [`${a}=${x}`, `${b}=${y}`];
  return one < other ? -1 : Number(one > other);
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, KEY_CHARACTERS);
}
