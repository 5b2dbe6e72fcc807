/**
 * Whether a schema accepts a value unchanged. This answers most calls without a copy. zod allocates for each member and
 * copies the value, which for a small body costs more than parsing it. zod itself is only needed to describe a refusal.
 */
import { z } from "zod";

type Accepts = (value: unknown) => boolean;

/** The compiled checks of the schemas; null for a schema that only zod can evaluate. */
const made = new WeakMap<z.ZodType, Accepts | null>();

/**
 * Whether `schema` accepts `value` and returns it unchanged. False is inconclusive: schemas that transform their input
 * or use custom code need zod.
 */
export function matchesWithoutCopy<Body>(schema: z.ZodType<Body>, value: unknown): value is Body {
  let accepts = made.get(schema);
  if (accepts === undefined) {
    accepts = acceptorOf(schema) ?? null;
    made.set(schema, accepts);
  }
  return accepts?.(value) === true;
}

type Schema = z.core.$ZodTypes;

/**
 * Undefined if the schema contains an unsupported part. Any schema may have additional checks, also an optional one.
 */
function acceptorOf(schema: z.core.$ZodType): Accepts | undefined {
  // Every schema of zod itself is one of these.
  const { def } = (schema as Schema)._zod;
  // Such a schema, for example `z.int()`, is a check of its own value.
  if ("check" in def) return undefined;
  return allOf(typeAcceptor(def), def.checks);
}

/** A check of the type alone, without the schema's additional checks; undefined for an unsupported type. */
function typeAcceptor(def: Schema["_zod"]["def"]): Accepts | undefined {
  switch (def.type) {
    case "unknown":
      return () => true;
    case "null":
      return (value) => value === null;
    case "boolean":
      return isPlain(def) ? (value) => typeof value === "boolean" : undefined;
    case "string":
      return isPlain(def) ? (value) => typeof value === "string" : undefined;
    case "number":
      return isPlain(def) ? Number.isFinite : undefined;
    case "optional":
      return orElse(acceptorOf(def.innerType), undefined);
    case "nullable":
      return orElse(acceptorOf(def.innerType), null);
    case "union":
      return anyOf(def.options.map(acceptorOf));
    case "array":
      return listAcceptor(acceptorOf(def.element));
    case "object":
      return objectAcceptor(def);
    default:
      return undefined;
  }
}

/** Whether values are accepted as they are, without coercion. */
function isPlain(def: { type: string; coerce?: boolean }): boolean {
  return def.coerce !== true;
}

function orElse(accepts: Accepts | undefined, other: null | undefined): Accepts | undefined {
  return accepts && ((value) => value === other || accepts(value));
}

function anyOf(options: readonly (Accepts | undefined)[]): Accepts | undefined {
  const all = allKnown(options);
  if (all === undefined) return undefined;
  return (value) => {
    for (const accepts of all) if (accepts(value)) return true;
    return false;
  };
}

/** Undefined if one of them is unsupported. */
function allKnown(acceptors: readonly (Accepts | undefined)[]): readonly Accepts[] | undefined {
  const known = acceptors.filter((accepts) => accepts !== undefined);
  return known.length < acceptors.length ? undefined : known;
}

function listAcceptor(accepts: Accepts | undefined): Accepts | undefined {
  return accepts && ((value) => Array.isArray(value) && value.every(accepts));
}

/** Only for a loose object, which keeps unknown keys. Values from JSON have few of the members that a schema knows. */
function objectAcceptor({ shape, catchall }: z.core.$ZodObjectDef): Accepts | undefined {
  if (catchall?._zod.def.type !== "unknown") return undefined;
  const names = Object.keys(shape);
  const all = allKnown(Object.values(shape).map(acceptorOf));
  if (all === undefined) return undefined;
  const byName = new Map(names.map((name, at) => [name, all[at]]));
  const needed = names.filter((name) => byName.get(name)?.(undefined) !== true);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    // Own keys only: values from JSON inherit nothing that is enumerable.
    for (const name in value) {
      // zod drops this key: copied carelessly it would become a prototype.
      if (name === "__proto__") return false;
      const accepts = byName.get(name);
      if (accepts !== undefined && !accepts((value as Record<string, unknown>)[name])) return false;
    }
    for (const name of needed) if (!Object.hasOwn(value, name)) return false;
    return true;
  };
}

/** With the schema's additional checks. */
function allOf(accepts: Accepts | undefined, checks: readonly z.core.$ZodCheck[] | undefined): Accepts | undefined {
  if (accepts === undefined || checks === undefined) return accepts;
  const all = allKnown(checks.map(checkAcceptor));
  if (all === undefined) return undefined;
  return (value) => {
    if (!accepts(value)) return false;
    for (const check of all) if (!check(value)) return false;
    return true;
  };
}

/** For a value of the check's type. */
function checkAcceptor(check: z.core.$ZodCheck): Accepts | undefined {
  // Only a plain true counts: the result may be a promise.
  if (check instanceof z.core.$ZodCustom) return (value) => check._zod.def.fn(value) === true;
  const { def } = (check as z.core.$ZodChecks)._zod;
  switch (def.check) {
    case "min_length":
      return (value) => lengthOf(value) >= def.minimum;
    case "max_length":
      return (value) => lengthOf(value) <= def.maximum;
    case "greater_than":
      return (value) => Number(value) > Number(def.value) || (def.inclusive && value === def.value);
    case "less_than":
      return (value) => Number(value) < Number(def.value) || (def.inclusive && value === def.value);
    case "number_format":
      return def.format === "safeint" ? Number.isSafeInteger : undefined;
    case "string_format":
      return def.format === "regex" ? patternAcceptor(def.pattern) : undefined;
    default:
      return undefined;
  }
}

function patternAcceptor(pattern: RegExp | undefined): Accepts | undefined {
  // A stateful regular expression would give another result the next time.
  if (pattern === undefined || pattern.global || pattern.sticky) return undefined;
  return (value) => typeof value === "string" && pattern.test(value);
}

function lengthOf(value: unknown): number {
  return typeof value === "string" || Array.isArray(value) ? value.length : Number.NaN;
}
