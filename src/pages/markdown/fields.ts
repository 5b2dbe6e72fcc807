import { type Element, isTag } from "domhandler";
import { textContent } from "domutils";
import type { Scope } from "./context.ts";
import { markText } from "./escape.ts";

/** Inputs whose value a reader sees as text. */
const textInputs = new Set([
  "",
  "text",
  "email",
  "url",
  "tel",
  "number",
  "date",
  "time",
  "month",
  "week",
  "datetime-local",
]);

/** Characters of a value. */
const valueCharactersMax = 10_000;

/** The value of a field: the text in it, the option that is chosen, the tick of a task. */
export function writeField(element: Element, { depth, inCell }: Scope): string {
  const { name, attribs } = element;
  const type = attribs["type"]?.trim().toLowerCase() ?? "";
  if (name === "input" && type === "checkbox") {
    if (depth === 0) return "";
    return attribs["checked"] === undefined ? "[ ] " : "[x] ";
  }
  const value = valueOf(element, type).replaceAll(/\s+/g, " ").trim().slice(0, valueCharactersMax);
  return value === "" ? "" : ` ${markText(value, inCell)} `;
}

function valueOf(element: Element, type: string): string {
  const { name, attribs } = element;
  if (name === "select") return textContent(chosenOptions(element));
  if (name === "input") return textInputs.has(type) ? (attribs["value"] ?? "") : "";
  const text = textContent(element);
  if (name === "textarea" || text.trim() !== "") return text;
  const { value, max } = attribs;
  return value === undefined || max === undefined ? (value ?? "") : `${value}/${max}`;
}

function chosenOptions({ children }: Element): Element[] {
  const options = children
    .filter(isTag)
    .flatMap((child) => (child.name === "optgroup" ? child.children.filter(isTag) : [child]));
  return options.filter(({ attribs }) => attribs["selected"] !== undefined);
}
