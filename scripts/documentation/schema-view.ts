/** A schema as nested lists of its fields: readable without scripts, deeper ones folded. */
import { escapeHtml } from "./html.ts";
import { type ApiDocument, nameOf, resolved, type Schema } from "./openapi.ts";

/** Fields below this depth are left to the document itself, which is linked. */
const DEPTH_MAX = 4;

interface Place {
  document: ApiDocument;
  depth: number;
  /** The names of the schemas around it: one that contains itself is not repeated. */
  within: readonly string[];
  /** Before the names of the first fields' anchors; no field has an anchor without it. */
  anchor?: string;
}

/** The fields of a schema; empty if it has none. With `anchor` each of the first level has an address, such as `ANCHOR-model`. */
export function schemaView(schema: Schema, document: ApiDocument, anchor?: string): string {
  return fieldsOf(schema, { document, depth: 0, within: [], ...(anchor === undefined ? {} : { anchor }) });
}

/** The names of all fields that `schemaView` shows, for the search. */
export function fieldNames(schema: Schema, document: ApiDocument): string[] {
  const names = new Set<string>();
  const visit = (part: Schema, depth: number): void => {
    if (depth > DEPTH_MAX) return;
    const own = resolved(part, document);
    for (const each of [own.items, ...(own.anyOf ?? []), ...(own.oneOf ?? []), ...(own.allOf ?? [])])
      if (each !== undefined) visit(each, depth);
    for (const [name, value] of Object.entries(own.properties ?? {})) {
      names.add(name);
      visit(value, depth + 1);
    }
  };
  visit(schema, 1);
  return [...names];
}

function fieldsOf(schema: Schema, place: Place): string {
  const { document, depth, within } = place;
  const name = schema.$ref === undefined ? undefined : nameOf(schema.$ref);
  if (depth >= DEPTH_MAX || (name !== undefined && within.includes(name))) return "";
  const inside = name === undefined ? place : { ...place, within: [...within, name] };
  const own = resolved(schema, document);
  if (own.items !== undefined) return fieldsOf(own.items, inside);
  const parts = own.anyOf ?? own.oneOf ?? own.allOf;
  if (parts !== undefined && own.properties === undefined) return alternativesOf(parts, inside);
  const { properties = {}, required = [] } = own;
  const rows = Object.entries(properties).map(([field, value]) =>
    fieldView(field, value, required.includes(field), { ...inside, depth: depth + 1 }),
  );
  return rows.length === 0 ? "" : `<dl class="fields">${rows.join("")}</dl>`;
}

/** The fields of each alternative that has any. */
function alternativesOf(parts: readonly Schema[], place: Place): string {
  const views = parts.map((part) => fieldsOf(part, place)).filter((view) => view !== "");
  const distinct = [...new Set(views)];
  return distinct.join(distinct.length > 1 ? '<p class="or">or</p>' : "");
}

function fieldView(name: string, schema: Schema, isRequired: boolean, place: Place): string {
  const { document, anchor, ...rest } = place;
  const own = resolved(schema, document);
  const description = schema.description ?? own.description;
  const nested = fieldsOf(schema, { document, ...rest });
  const folded =
    nested === ""
      ? ""
      : `<details class="nested"><summary>Fields of <code>${escapeHtml(name)}</code></summary>${nested}</details>`;
  const id = anchor === undefined ? undefined : `${anchor}-${name}`;
  return rowOf({ name, schema, document, isRequired, description, content: folded, id });
}

interface FieldRow {
  name: string;
  schema: Schema;
  document: ApiDocument;
  isRequired: boolean;
  description: string | undefined;
  /** HTML behind the description. */
  content?: string;
  /** Its anchor. */
  id?: string | undefined;
}

/** A field or a parameter in its list. */
export function rowOf({ name, schema, document, isRequired, description, content = "", id }: FieldRow): string {
  const required = isRequired ? ' <span class="required">required</span>' : "";
  const text = description === undefined ? "" : `<p>${inlineCode(description)}</p>`;
  const anchor = id === undefined ? "" : ` id="${escapeHtml(id)}"`;
  const label = `<code>${escapeHtml(name)}</code>`;
  const linked = id === undefined ? label : `<a href="#${escapeHtml(id)}">${label}</a>`;
  const own = resolved(schema, document);
  const more = `${limitsOf(own)}${content}`;
  const shown = text === "" && more === "" ? "" : `<dd>${text}${more}</dd>`;
  return `<dt${anchor}>${linked} <span class="type">${escapeHtml(typeOf(schema, document))}</span>${required}</dt>${shown === "" ? "<dd></dd>" : shown}`;
}

/** Text with code between backticks. */
export function inlineCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** Values beyond this number are listed below the type. */
const VALUES_MAX = 3;

/** The type in words, such as `string or null` or `array of objects`. */
export function typeOf(schema: Schema, document: ApiDocument): string {
  const own = resolved(schema, document);
  if (own.const !== undefined) return JSON.stringify(own.const);
  if (own.enum !== undefined && own.enum.length <= VALUES_MAX)
    return own.enum.map((value) => JSON.stringify(value)).join(" or ");
  const parts = own.anyOf ?? own.oneOf;
  if (parts !== undefined) {
    const types = [...new Set(parts.map((part) => typeOf(part, document)))];
    // Alternatives of one string, such as a day or a time, have no types of their own.
    return types.includes("any") && own.type !== undefined ? String(own.type) : types.join(" or ");
  }
  if (own.allOf !== undefined) return "object";
  const types = typeof own.type === "string" ? [own.type] : (own.type ?? ["any"]);
  return types.map((type) => (type === "array" ? arrayOf(own, document) : type)).join(" or ");
}

function arrayOf({ items }: Schema, document: ApiDocument): string {
  const type = items === undefined ? "any" : typeOf(items, document);
  if (type === "any") return "array";
  return /^[a-z]+$/.test(type) ? `array of ${type}s` : `array of ${type}`;
}

const shown = (value: unknown): string =>
  `<code>${escapeHtml(typeof value === "string" ? value : JSON.stringify(value))}</code>`;

/** Both bounds in one phrase. The largest exact integer is no bound that a reader has to know. */
function rangeOf(least: number | undefined, most: number | undefined, unit: string): string[] {
  const isBounded = most !== undefined && most < Number.MAX_SAFE_INTEGER;
  const isAtLeast = least !== undefined && least > -Number.MAX_SAFE_INTEGER;
  if (isBounded && isAtLeast) return [`${shown(least)} to ${shown(most)}${unit}`];
  if (isBounded) return [`at most ${shown(most)}${unit}`];
  return isAtLeast ? [`at least ${shown(least)}${unit}`] : [];
}

function limitsOf(schema: Schema): string {
  const { enum: values = [], minLength, maxLength, minItems, maxItems } = schema;
  const texts = [
    ...(values.length > VALUES_MAX ? [`one of ${values.map(shown).join(", ")}`] : []),
    ...(schema.format === undefined ? [] : [`format ${shown(schema.format)}`]),
    ...rangeOf(schema.minimum, schema.maximum, ""),
    // Every string that is needed has at least one character.
    ...rangeOf(minLength === 1 ? undefined : minLength, maxLength, " characters"),
    ...rangeOf(minItems, maxItems, " items"),
    ...(schema.default === undefined ? [] : [`default ${shown(schema.default)}`]),
  ];
  return texts.length === 0 ? "" : `<p class="limits">${texts.join(" · ")}</p>`;
}
