import { type ChildNode, type Element, isTag, isText, type ParentNode } from "domhandler";
import { findOne, textContent } from "domutils";
import { isDisplayFormula } from "./block-names.ts";
import { texOf } from "./mathml.ts";

/** Classes of the elements in which a browser shows a formula whose source is beside it. */
const drawn =
  /(^|\s)(katex-html|MathJax(_Preview|_SVG|_CHTML)?|MathJax_Display|mwe-math-fallback-image-(inline|display)|mjx-chtml)(\s|$)/;

const wholes = /(^|\s)(katex|katex-display|mwe-math-element|math|tex|latex)(\s|$)/;

/** A formula as TeX, without its delimiters, or undefined where `element` is none; "" for an element that only repeats one. */
export function formulaOf(element: Element): string | undefined {
  const { name, attribs } = element;
  if (name === "script") return /^math\/tex/i.test(attribs["type"] ?? "") ? tidy(textContent(element)) : undefined;
  if (name === "math") return sourceOf(element) ?? tidy(texOf(element));
  if (name === "mjx-container") return formulaInside(element) ?? tidy(attribs["aria-label"] ?? textContent(element));
  const stated = statedSource(element);
  if (stated !== undefined) return stated;
  const classes = attribs["class"];
  if (classes === undefined) return undefined;
  if (drawn.test(classes)) return repeatsNeighbour(element) ? "" : formulaInside(element);
  return wholes.test(classes) ? formulaInside(element) : undefined;
}

/** The source that an element states for the drawing in it. */
function statedSource({ attribs, children }: Element): string | undefined {
  const source = sources.map((name) => attribs[name]).find((value) => value !== undefined && value.trim() !== "");
  if (source === undefined || findOne(isDrawing, children) === null) return undefined;
  return tidy(source.trim().replace(/^(\${1,2}|\\[([])([\s\S]*?)(\${1,2}|\\[)\]])$/, "$2"));
}

/** Attributes for the source of a formula. */
const sources = ["data-math", "data-tex", "data-latex", "data-katex", "data-expr", "data-formula", "data-equation"];

function isDrawing({ name, attribs }: Element): boolean {
  return name === "math" || name === "mjx-container" || /(^|\s)katex(-html)?(\s|$)/.test(attribs["class"] ?? "");
}

/** A formula with the delimiters that its place asks for. */
export function delimited(tex: string, isDisplay: boolean): string {
  if (tex === "") return "";
  return isDisplay ? `$$${tex}$$` : `$${tex}$`;
}

/** A formula in a cell of a table: a bar would end the cell, and a backslash before it is taken away. */
export function formulaForCell(tex: string): string {
  return tex
    .replaceAll(/\\\|/g, String.raw`\Vert `)
    .replaceAll("|", String.raw`\|`)
    .trimEnd();
}

/** Whether a formula is written on a line of its own. */
export function isOnOwnLine(element: Element): boolean {
  return (
    isDisplayFormula(element) ||
    findOne((inner) => inner.name === "math" && isDisplayFormula(inner), element.children) !== null
  );
}

function formulaInside(element: Element): string | undefined {
  const math = findOne(({ name }) => name === "math", element.children);
  if (math !== null) return sourceOf(math) ?? tidy(texOf(math));
  const script = findOne(
    ({ name, attribs }) => name === "script" && /^math\/tex/i.test(attribs["type"] ?? ""),
    element.children,
  );
  return script === null ? undefined : tidy(textContent(script));
}

function sourceOf(math: Element): string | undefined {
  const annotation = findOne(
    ({ name, attribs }) => name === "annotation" && /tex/i.test(attribs["encoding"] ?? ""),
    math.children,
  );
  const tex = annotation === null ? math.attribs["alttext"] : textContent(annotation);
  return tex === undefined || tex.trim() === ""
    ? undefined
    : tidy(tex.replace(/^\s*\{\\displaystyle\s([\s\S]*)\}\s*$/, "$1"));
}

/** MathJax 2 puts its drawing before the script with the source. */
function repeatsNeighbour({ name, next, parent, attribs }: Element): boolean {
  if (/(^|\s)katex-html(\s|$)/.test(attribs["class"] ?? "")) return hasSourceBeside(parent);
  if (name === "img" || /mwe-math-fallback/.test(attribs["class"] ?? "")) return true;
  const siblings: ChildNode[] = [];
  for (let node: ChildNode | null = next; node !== null && siblings.length < 4; node = node.next) siblings.push(node);
  if (siblings.some((node) => isTag(node) && node.name === "script")) return true;
  return (
    parent !== null &&
    isTag(parent) &&
    drawn.test(parent.attribs["class"] ?? "") &&
    siblings.every((node) => !isText(node))
  );
}

/** KaTeX can be told to write its drawing only: the signs in it are then all that there is. */
function hasSourceBeside(parent: ParentNode | null): boolean {
  return parent !== null && findOne(({ name }) => name === "math", parent.children) !== null;
}

function tidy(tex: string): string {
  return tex.replaceAll(/\s+/g, " ").trim();
}
