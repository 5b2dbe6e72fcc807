import type { Check, Problem } from "./check.ts";
import { isDocumented } from "./documented.ts";
import { isGiven, isObject, type JsonObject } from "./json.ts";

/** Checks a value and everything inside it; `field` is the path used in errors, such as `input[0].content`. */
export type Shape = (value: unknown, field: string) => Problem | null;

/** A single value. */
export function value(check: Check): Shape {
  return (given, field) => {
    const expected = check(given);
    return expected === null ? null : { kind: "wrong-type", field, expected, value: given };
  };
}

export interface RecordOptions {
  /** Members that must be there; a null counts as missing. */
  readonly required?: readonly string[];
  /** Lets members pass that are not declared. */
  readonly open?: boolean;
}

/** An object with declared members. A null counts as absent. */
export function record(members: { readonly [name: string]: Shape }, options: RecordOptions = {}): Shape {
  return recordOf(members, options, () => options.open === true);
}

/** The same for text generation: of other members, those that some provider documents are refused, unless it is open. */
export function tolerantRecord(members: { readonly [name: string]: Shape }, options: RecordOptions = {}): Shape {
  return recordOf(members, options, (name) => options.open === true || !isDocumented(name));
}

function recordOf(
  members: { readonly [name: string]: Shape },
  { required = [] }: RecordOptions,
  passes: (name: string) => boolean,
): Shape {
  return (given, field) => {
    if (!isObject(given)) return { kind: "wrong-type", field, expected: "an object", value: given };
    const missing = required.find((name) => !isGiven(given[name]));
    if (missing !== undefined) return { kind: "missing", field: join(field, missing) };
    return first(Object.entries(given), ([name, member]) => {
      const shape = Object.hasOwn(members, name) ? members[name] : undefined;
      if (shape !== undefined) return member === null ? null : shape(member, join(field, name));
      return passes(name) ? null : { kind: "unknown", field: join(field, name), value: member };
    });
  };
}

/** A list of values of one shape, at least `min` of them. */
export function list(shape: Shape, min = 0): Shape {
  return (given, field) => {
    if (!Array.isArray(given)) return { kind: "wrong-type", field, expected: "an array", value: given };
    if (given.length < min) {
      return { kind: "bad-value", field, message: `expected at least ${min} item`, value: given };
    }
    return first(given.entries(), ([index, entry]) => shape(entry, `${field}[${index}]`));
  };
}

/** Text, or something of another shape. */
export function textOr(shape: Shape): Shape {
  return (given, field) => (typeof given === "string" ? null : shape(given, field));
}

/** An object whose member `type` selects its shape. `fallback` is for objects without it. */
export function tagged(shapes: { readonly [type: string]: Shape }, fallback?: string): Shape {
  return (given, field) => {
    if (!isObject(given)) return { kind: "wrong-type", field, expected: "an object", value: given };
    const type = given["type"] ?? fallback;
    if (type === undefined) return { kind: "missing", field: join(field, "type") };
    const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (shape !== undefined) return shape(given, field);
    const message = `supported values are ${Object.keys(shapes).join(", ")}`;
    return { kind: "bad-value", field: join(field, "type"), message, value: type };
  };
}

/** One shape after the other; the first problem counts. */
export function both(...shapes: readonly Shape[]): Shape {
  return (given, field) => first(shapes, (shape) => shape(given, field));
}

/** The first problem that a search through some things finds. */
export function first<Item>(items: Iterable<Item>, problemOf: (item: Item) => Problem | null): Problem | null {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== null) return problem;
  }
  return null;
}

/** The members of an object shape, out of single checks. */
export function values(checks: { readonly [name: string]: Check }): { [name: string]: Shape } {
  return Object.fromEntries(Object.entries(checks).map(([name, check]) => [name, value(check)]));
}

function join(field: string, name: string): string {
  return field === "" ? name : `${field}.${name}`;
}

/** Options of a stream without a stream are a mistake of the caller. */
export function checkStreamOptions(body: JsonObject): Problem | null {
  const options = body["stream_options"];
  if (!isGiven(options) || body["stream"] === true) return null;
  const message = "only allowed when 'stream' is enabled";
  return { kind: "bad-value", field: "stream_options", message, value: options };
}
