/** The tags of a call, as its headers name them: keys with values, such as `team=search`. */
import { textOfHeader } from "./header-text.ts";

/** The key of a tag, or of a token's metadata. */
export const TAG_KEY = /^[\w.-]{1,64}$/;

/** Every call has these of its own, so that no organisation declares them: the client's session, and the caller's own user. */
export const builtInTags = ["session", "end_user"] as const;

/** One line of text of a bounded length: values go into records, exports and groups of usage as they are. */
const TAG_VALUE = /^[^\p{Cc}\p{Cs}\u2028\u2029]{1,128}$/u;

/** Characters of a header that is read. */
const CHARACTERS_MAX = 8_192;

/** The key of a tag of LiteLLM's that has none. */
const BARE_TAG = "tag";

/** The headers with tags, the first one counts most, and how each separates a key from its value. */
const tagHeaders = [
  { name: "x-tollgate-tags", separator: /=/, bare: undefined },
  // LiteLLM's tags are plain texts, most often `key:value`.
  { name: "x-litellm-tags", separator: /[:=]/, bare: BARE_TAG },
] as const;

export const tagHeaderNames = tagHeaders.map(({ name }) => name);

export interface NamedTags {
  values: ReadonlyMap<string, string>;
  /** Headers that can't be read, and count as absent. */
  malformed: readonly string[];
}

/** Whether a tag may have this value. */
export function isTagValue(value: unknown): value is string {
  return typeof value === "string" && TAG_VALUE.test(value);
}

/** The tags that headers name; undefined without such a header. */
export function tagsInHeaders(headers: Pick<Headers, "get">): NamedTags | undefined {
  let found: { values: Map<string, string>; malformed: string[] } | undefined;
  for (const header of tagHeaders) {
    const text = headers.get(header.name);
    if (text === null) continue;
    found ??= { values: new Map(), malformed: [] };
    const pairs = pairsIn(text, header);
    if (pairs === undefined) found.malformed.push(header.name);
    // The first one of a key counts.
    else found.values = new Map([...pairs.toReversed(), ...found.values]);
  }
  return found;
}

/** The pairs between commas; undefined if one of them is malformed. */
function pairsIn(header: string, { separator, bare }: (typeof tagHeaders)[number]): [string, string][] | undefined {
  if (header.length > CHARACTERS_MAX) return undefined;
  const pairs: [string, string][] = [];
  for (const part of textOfHeader(header).split(",")) {
    const pair = part.trim();
    if (pair === "") continue;
    const at = pair.search(separator);
    const key = at === -1 ? bare : pair.slice(0, at).trim();
    const value = pair.slice(at + 1).trim();
    if (key === undefined || !TAG_KEY.test(key) || !isTagValue(value)) return undefined;
    pairs.push([key, value]);
  }
  return pairs;
}
