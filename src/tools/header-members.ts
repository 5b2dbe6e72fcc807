/**
 * Arguments that a server wants repeated in headers (`x-mcp-header`, 2026-07-28). The gateway does that for clients that need not know of it,
 * and checks the headers of those that have to.
 */
import { type JsonObject, objectOf } from "../core/index.ts";
import { encodedValue, RpcError, rpcCodes, valueForHeader } from "../mcp/index.ts";

const ANNOTATION = "x-mcp-header";
const DEPTH_MAX = 8;

/** Servers of HTTP take about a hundred headers. */
const MEMBERS_MAX = 32;

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
  if (members.length > MEMBERS_MAX) return undefined;
  const names = new Set(members.map(({ header }) => header.toLowerCase()));
  const isValid = names.size === members.length && members.every(({ header }) => TOKEN.test(header));
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

/** The schema for clients that need not know of it. */
export function withoutHeaderMembers(schema: JsonObject): JsonObject {
  const properties = objectOf(schema["properties"]);
  if (properties === undefined) return schema;
  const shown = Object.entries(properties).map(([key, value]): [string, unknown] => {
    const { [ANNOTATION]: _header, ...member } = objectOf(value) ?? {};
    return [key, objectOf(value) === undefined ? value : withoutHeaderMembers(member)];
  });
  return { ...schema, properties: Object.fromEntries(shown) };
}

/** The definition of a tool for a client of 2026-07-28. */
export function withHeaderMembers(definition: JsonObject, members: readonly HeaderMember[]): JsonObject {
  if (members.length === 0) return definition;
  const schema = objectOf(definition["inputSchema"]) ?? {};
  return { ...definition, inputSchema: members.reduce(annotated, schema) };
}

function annotated(schema: JsonObject, { header, path: [key = "", ...rest] }: HeaderMember): JsonObject {
  const properties = objectOf(schema["properties"]) ?? {};
  const member = objectOf(properties[key]) ?? {};
  const shown = rest.length === 0 ? { ...member, [ANNOTATION]: header } : annotated(member, { header, path: rest });
  return { ...schema, properties: { ...properties, [key]: shown } };
}

/** The headers of the arguments that are given. */
export function headersOf(members: readonly HeaderMember[], given: JsonObject): Record<string, string> {
  return Object.fromEntries(
    members.flatMap(({ header, path }) => {
      const value = valueAt(path, given);
      return value === undefined ? [] : [[nameOfHeader(header), valueForHeader(value)]];
    }),
  );
}

function valueAt(path: readonly string[], given: JsonObject): string | undefined {
  let value: unknown = given;
  for (const key of path) value = objectOf(value)?.[key];
  const isGiven = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
  return isGiven ? String(value) : undefined;
}

const nameOfHeader = (header: string): string => `mcp-param-${header}`;

/** Throws -32020 unless the headers of a call repeat these arguments, and no others. */
export function checkHeaderMembers(members: readonly HeaderMember[], given: JsonObject, headers: Headers): void {
  for (const { header, path } of members) {
    const sent = headers.get(nameOfHeader(header));
    const value = valueAt(path, given);
    if ((sent === null ? undefined : encodedValue(sent)) === value && (sent === null) === (value === undefined))
      continue;
    throw new RpcError(
      rpcCodes.headerMismatch,
      `The header Mcp-Param-${header} is not the argument ${path.join(".")}.`,
      {
        status: 400,
      },
    );
  }
}
