/** A schema as nested lists of its members: readable without scripts, deeper ones folded. */
import { escapeHtml } from "./html.ts";
import { type ApiDocument, nameOf, resolved, type Schema } from "./openapi.ts";

/** Members below this depth are left to the document itself, which is linked. */
const DEPTH_MAX = 4;

interface Place {
  document: ApiDocument;
  depth: number;
  /** The names of the schemas around it: one that contains itself is not repeated. */
  within: readonly string[];
}

/** The members of a schema; empty if it has none. */
export function schemaView(schema: Schema, document: ApiDocument): string {
  return membersOf(schema, { document, depth: 0, within: [] });
}

function membersOf(schema: Schema, place: Place): string {
  const { document, depth, within } = place;
  const name = schema.$ref === undefined ? undefined : nameOf(schema.$ref);
  if (depth >= DEPTH_MAX || (name !== undefined && within.includes(name))) return "";
  const inside = name === undefined ? place : { ...place, within: [...within, name] };
  const own = resolved(schema, document);
  if (own.items !== undefined) return membersOf(own.items, inside);
  const parts = own.anyOf ?? own.oneOf ?? own.allOf;
  if (parts !== undefined && own.properties === undefined) return alternativesOf(parts, inside);
  const { properties = {}, required = [] } = own;
  const rows = Object.entries(properties).map(([member, value]) =>
    memberView(member, value, required.includes(member), { ...inside, depth: depth + 1 }),
  );
  return rows.length === 0 ? "" : `<dl class="members">${rows.join("")}</dl>`;
}

/** The members of each alternative that has any. */
function alternativesOf(parts: readonly Schema[], place: Place): string {
  const views = parts.map((part) => membersOf(part, place)).filter((view) => view !== "");
  const distinct = [...new Set(views)];
  return distinct.join(distinct.length > 1 ? '<p class="or">or</p>' : "");
}

function memberView(name: string, schema: Schema, isRequired: boolean, place: Place): string {
  const { document } = place;
  const own = resolved(schema, document);
  const description = schema.description ?? own.description;
  const nested = membersOf(schema, place);
  const folded =
    nested === "" ? "" : `<details><summary>Members of <code>${escapeHtml(name)}</code></summary>${nested}</details>`;
  const content = limitsOf(own) + folded;
  return rowOf({ name, type: typeOf(schema, document), isRequired, description, content });
}

interface MemberRow {
  name: string;
  type: string;
  isRequired: boolean;
  description: string | undefined;
  /** HTML behind the description. */
  content?: string;
}

/** A member or a parameter in its list. */
export function rowOf({ name, type, isRequired, description, content = "" }: MemberRow): string {
  const required = isRequired ? ' <span class="required">required</span>' : "";
  const text = description === undefined ? "" : `<p>${inlineCode(description)}</p>`;
  return `<dt><code>${escapeHtml(name)}</code> <span class="type">${escapeHtml(type)}</span>${required}</dt><dd>${text}${content}</dd>`;
}

/** Text with code between backticks. */
export function inlineCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** The type in words, such as `string or null` or `array of objects`. */
export function typeOf(schema: Schema, document: ApiDocument): string {
  const own = resolved(schema, document);
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.enum !== undefined) return own.enum.map((value) => JSON.stringify(value)).join(" or ");
  const parts = own.anyOf ?? own.oneOf;
  if (parts !== undefined) return [...new Set(parts.map((part) => typeOf(part, document)))].join(" or ");
  if (own.allOf !== undefined) return "object";
  const { type } = own;
  if (type === "array") return own.items === undefined ? "array" : `array of ${typeOf(own.items, document)}`;
  if (type === undefined) return "any";
  return typeof type === "string" ? type : type.join(" or ");
}

const bounds = [
  ["format", "format"],
  ["minimum", "at least"],
  ["maximum", "at most"],
  ["minLength", "characters at least"],
  ["maxLength", "characters at most"],
  ["minItems", "items at least"],
  ["maxItems", "items at most"],
  ["default", "default"],
] as const;

function limitsOf(schema: Schema): string {
  const texts = bounds.flatMap(([key, words]) =>
    schema[key] === undefined ? [] : [`${words} <code>${escapeHtml(shown(schema[key]))}</code>`],
  );
  return texts.length === 0 ? "" : `<p class="limits">${texts.join(", ")}</p>`;
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
