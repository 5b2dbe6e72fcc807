import { isObject } from "./json.ts";

/** A violation of a request; each provider writes it in its own error format. */
export type Problem =
  | { readonly kind: "not-json" }
  | { readonly kind: "missing"; readonly field: string }
  | { readonly kind: "unknown"; readonly field: string; readonly value: unknown }
  | { readonly kind: "wrong-type"; readonly field: string; readonly expected: string; readonly value: unknown }
  | { readonly kind: "bad-value"; readonly field: string; readonly message: string; readonly value: unknown }
  | { readonly kind: "unsupported"; readonly field: string; readonly message: string };

/** A value that is not taken, and why. */
export function badValue(field: string, message: string, value: unknown = null): Problem {
  return { kind: "bad-value", field, message, value };
}

/** Checks one value; a text describes the expected one. */
export type Check = (value: unknown) => string | null;

const named =
  (expected: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? null : expected;

export const isText = named("a string", (value) => typeof value === "string");
export const isFlag = named("a boolean", (value) => typeof value === "boolean");
export const isRecord = named("an object", isObject);
export const isList = named("an array", Array.isArray);
export const isAnything: Check = () => null;
export const isTextOrRecord = named("a string or an object", (value) => typeof value === "string" || isObject(value));
export const isTextOrList = named(
  "a string or an array of strings",
  (value) => typeof value === "string" || (Array.isArray(value) && value.every((entry) => typeof entry === "string")),
);

/** A whole number from `min` to `max`. */
export function isInteger(min: number, max: number): Check {
  return named(`an integer from ${min} to ${max}`, (value) => Number.isInteger(value) && within(value, min, max));
}

/** Any number from `min` to `max`. */
export function isNumber(min: number, max: number): Check {
  return named(`a number from ${min} to ${max}`, (value) => within(value, min, max));
}

function within(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

/** One of a closed set of values. */
export function isOneOf(...words: readonly string[]): Check {
  return named(`one of ${words.join(", ")}`, (value) => typeof value === "string" && words.includes(value));
}

/** Text of a form; the result describes a violation. */
export function isLike(pattern: RegExp, expected: string): Check {
  return named(expected, (value) => typeof value === "string" && pattern.test(value));
}

/** Any count of tokens. */
export const isTokenLimit = isInteger(1, 100_000_000);
