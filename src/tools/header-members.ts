/** Arguments that a server wants repeated in headers (`x-mcp-header`, 2026-07-28). The gateway does that for its clients. */
import { type JsonObject, objectOf } from "../core/index.ts";

const ANNOTATION = "x-mcp-header";
const DEPTH_MAX = 8;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

export interface HeaderMember {
  /** Behind `Mcp-Param-`. */
  header: string;
  /** The keys that lead to the argument. */
  path: readonly string[];
}

/** Those of a schema; undefined if it breaks the rules of the revision, which makes the whole tool invalid. */
export function headerMembers(schema: JsonObject): readonly HeaderMember[] | undefined {
  const members = membersIn(schema, []);
  const names = members.map(({ header }) => header.toLowerCase());
  const isValid = names.every((name, index) => TOKEN.test(name) && names.indexOf(name) === index);
  return isValid && JSON.stringify(schema).split(`"${ANNOTATION}"`).length - 1 === members.length ? members : undefined;
}

/** Only those that are reached by `properties` alone. */
function membersIn(schema: JsonObject, path: readonly string[]): HeaderMember[] {
  if (path.length > DEPTH_MAX) return [];
  return Object.entries(objectOf(schema["properties"]) ?? {}).flatMap(([key, value]) => {
    const member = objectOf(value);
    if (member === undefined) return [];
    const { [ANNOTATION]: header, type } = member;
    const isPlain = type === "string" || type === "integer" || type === "boolean";
    const own = typeof header === "string" && isPlain ? [{ header, path: [...path, key] }] : [];
    return [...own, ...membersIn(member, [...path, key])];
  });
}

/** The schema for clients, which need not know of it. */
export function withoutHeaderMembers(schema: JsonObject): JsonObject {
  const properties = objectOf(schema["properties"]);
  if (properties === undefined) return schema;
  const shown = Object.entries(properties).map(([key, value]): [string, unknown] => {
    const { [ANNOTATION]: _header, ...member } = objectOf(value) ?? {};
    return [key, objectOf(value) === undefined ? value : withoutHeaderMembers(member)];
  });
  return { ...schema, properties: Object.fromEntries(shown) };
}
