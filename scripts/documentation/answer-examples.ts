/** Examples of answers: those of providers by hand, all others from their schemas, with values that fit the names of their members. */
import { sample } from "openapi-sampler";
import type { ApiDocument, Operation, Schema } from "./openapi.ts";
import { kindValues, omitted } from "./kind-values.ts";
import { sampleAnswers } from "./sample-answers.ts";

/** An example of the JSON that an operation answers; undefined if neither a person nor a schema has one. */
export function answerExample(
  { operationId }: Pick<Operation, "operationId">,
  schema: Schema,
  document: ApiDocument,
): unknown {
  const written = sampleAnswers[operationId];
  if (written !== undefined) return written;
  // Its types know JSON Schema, of which the document's schemas are.
  const made: unknown = sample(schema as Parameters<typeof sample>[0], { quiet: true }, document);
  const example = withValues(made, "", "");
  return isEmpty(example) ? undefined : example;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  value === undefined || (isObject(value) && Object.keys(value).length === 0) || typeof value === "string";

/** The sampler's names of members that a schema permits without naming them. */
const unnamed = new Set(["property1", "property2"]);

/** Replaces the sampler's placeholders. `kind` is the kind of the object around the value, as its member `object` names it. */
function withValues(value: unknown, name: string, kind: string): unknown {
  const known = kindValues[kind]?.[name];
  if (known !== undefined) return known;
  if (Array.isArray(value)) return value.map((each) => withValues(each, name, kind));
  if (!isObject(value)) return valueOf(value, name);
  const own = typeof value["object"] === "string" ? value["object"] : "";
  const members = Object.keys(value).filter((key) => !unnamed.has(key) && kindValues[own]?.[key] !== omitted);
  return Object.fromEntries(members.map((key) => [key, withValues(value[key], key, own)]));
}

const DAY = "2026-11-28";
const AT = "2026-11-28T09:30:00.000Z";
const SECONDS = 1_795_858_200;

const off = new Set(["has_more", "isError", "service_bypass"]);

/** A value by its name, if it has the type of the sampler's; else the sampler's. */
function valueOf(value: unknown, name: string): unknown {
  if (typeof value === "boolean") return value && !off.has(name);
  if (value === 0 && name.endsWith("_at")) return SECONDS;
  if (typeof value === "string" && value.startsWith("2019-08-24T")) return AT;
  if (value === "2019-08-24") return DAY;
  const own = kindValues[""]?.[name];
  if ((value === "string" || value === 0) && typeof own === typeof value) return own;
  return value === "string" ? "…" : value;
}
