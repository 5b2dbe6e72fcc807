import { GatewayError, type JsonObject, objectOf } from "../../core/index.ts";

/** Readers of a client's body: each returns the named type or throws a refusal with the path of the field. */

export function invalid(at: string, what: string): GatewayError {
  return new GatewayError("validation_failed", `${at}: ${what}`, { param: at });
}

export function readObject(value: unknown, at: string): JsonObject {
  const object = objectOf(value);
  if (object === undefined) throw invalid(at, "must be an object");
  return object;
}

export function readList(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(at, "must be an array");
  return value;
}

/** A list, each entry of which `read` reads. */
export function readEach<Value>(value: unknown, at: string, read: (value: unknown, at: string) => Value): Value[] {
  return readList(value, at).map((one, index) => read(one, `${at}.${index}`));
}

export function readText(value: unknown, at: string): string {
  if (typeof value !== "string") throw invalid(at, "must be a string");
  return value;
}

/** A non-empty string: names, ids, types. */
export function readWord(value: unknown, at: string): string {
  const word = readText(value, at);
  if (word === "") throw invalid(at, "must not be empty");
  return word;
}

export function readNumber(value: unknown, at: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw invalid(at, "must be a number");
  return value;
}

/** A whole number of at least `min`. */
export function readCount(value: unknown, at: string, min: number): number {
  const count = readNumber(value, at);
  if (!Number.isInteger(count) || count < min) throw invalid(at, `must be a whole number of at least ${min}`);
  return count;
}

export function readFlag(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw invalid(at, "must be true or false");
  return value;
}

export function readOneOf<Word extends string>(value: unknown, at: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw invalid(at, `must be one of ${words.join(", ")}`);
  return word;
}

/** `read` for a present value; null and absent values are undefined. */
export function optional<Value>(
  value: unknown,
  at: string,
  read: (value: unknown, at: string) => Value,
): Value | undefined {
  return value === undefined || value === null ? undefined : read(value, at);
}

/** A member of an object, by its name, if it has a value. */
export function member<Value>(
  object: JsonObject,
  name: string,
  at: string,
  read: (value: unknown, at: string) => Value,
): Value | undefined {
  const value = object[name];
  return value === undefined || value === null ? undefined : read(value, at === "" ? name : `${at}.${name}`);
}

/** `object` without its undefined members, for JSON and comparisons. */
export function defined(object: JsonObject): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name in object) {
    if (object[name] !== undefined) kept[name] = object[name];
  }
  return kept;
}
