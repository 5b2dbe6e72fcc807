import { type JsonObject, objectOf } from "../../core/index.ts";

/**
 * An object with its members' names in camel case, the object itself if they are: Google reads both, and its SDKs send both
 * (`docs/wire/gemini.md`). Only for objects whose names are Google's own, never for arguments, results or schemas.
 */
export function inCamel(object: JsonObject): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const name in object) {
    if (!name.includes("_") || !SNAKE.test(name)) continue;
    changed ??= { ...object };
    delete changed[name];
    const camel = camelOf(name);
    if (!Object.hasOwn(object, camel)) changed[camel] = object[name];
  }
  return changed ?? object;
}

/** A member that is an object, in camel case; undefined for anything else. */
export function camelMember(object: JsonObject, name: string): JsonObject | undefined {
  const value = objectOf(inCamel(object)[name]);
  return value === undefined ? undefined : inCamel(value);
}

/** The name of a member as protobuf writes it in JSON. */
function camelOf(name: string): string {
  return name.replace(/(?<=[a-z0-9])_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const SNAKE = /[a-z0-9]_+[a-z0-9]/;
