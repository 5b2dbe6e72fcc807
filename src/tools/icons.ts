/** Icons that servers name for their tools, prompts and resources. Clients read them, the gateway reads none. */
import { type JsonObject, listOf, objectOf, objectsOf } from "../core/index.ts";
import { isPublicHttps } from "../outbound/index.ts";

/** Of one item, and the characters of an icon that is in its address. */
const ICONS_MAX = 8;
const DATA_CHARACTERS_MAX = 32 * 1024;

const SIZES_MAX = 8;
const WORD_CHARACTERS_MAX = 64;

/** An item without the icons that clients should not read: those behind other schemes than `https:` and `data:`, or at private hosts. */
export function withSafeIcons(item: JsonObject): JsonObject {
  if (item["icons"] === undefined) return item;
  const { icons, ...rest } = item;
  const safe = objectsOf(listOf(icons)).flatMap((icon) => safeIcon(icon) ?? []);
  return safe.length === 0 ? rest : { ...rest, icons: safe.slice(0, ICONS_MAX) };
}

function safeIcon({ src, mimeType, sizes, theme }: JsonObject): JsonObject | undefined {
  if (typeof src !== "string" || !isSafe(src)) return undefined;
  const named = listOf(sizes).filter(isWord);
  return {
    src,
    ...(isWord(mimeType) && { mimeType }),
    ...(named.length > 0 && { sizes: named.slice(0, SIZES_MAX) }),
    ...((theme === "light" || theme === "dark") && { theme }),
  };
}

function isSafe(address: string): boolean {
  if (/^data:image\/[a-z0-9.+-]+[;,]/i.test(address)) return address.length <= DATA_CHARACTERS_MAX;
  // A client must not be led into its own network either.
  return /^https:\/\//i.test(address) && isPublicHttps(address);
}

function isWord(value: unknown): value is string {
  return typeof value === "string" && value.length <= WORD_CHARACTERS_MAX;
}

/** Members of a result that are lists of items. */
const lists = ["prompts", "resources", "resourceTemplates", "content"] as const;

/** The result of any method, with icons that clients may read, and without members that are the gateway's own. */
export function shownResult(result: JsonObject): JsonObject {
  const changed: Record<string, unknown> = {};
  for (const list of lists) {
    const items = result[list];
    if (Array.isArray(items)) changed[list] = items.map(shownItem);
  }
  if (Array.isArray(result["messages"])) changed["messages"] = result["messages"].map(shownMessage);
  const meta = objectOf(result["_meta"]);
  if (meta !== undefined) changed["_meta"] = withoutOwn(meta);
  return { ...result, ...changed };
}

function shownItem(item: unknown): unknown {
  const object = objectOf(item);
  return object === undefined ? item : withSafeIcons(object);
}

/** Of a prompt. */
function shownMessage(message: unknown): unknown {
  const object = objectOf(message);
  return object === undefined ? message : { ...object, content: shownItem(object["content"]) };
}

/** A server must not speak for the gateway. */
function withoutOwn(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !key.startsWith("tollgate/")));
}
