import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { textContent } from "domutils";
import { isBlockName } from "./block-names.ts";
import { codeSpan } from "./code.ts";
import type { Scope, Writer } from "./context.ts";
import { joinPieces, surround } from "./emphasis.ts";
import { escapeAddress, escapeLineStarts, escapeTitle, markText, resolveMarks } from "./escape.ts";
import { writeField } from "./fields.ts";
import { delimited, formulaForCell, formulaOf, isOnOwnLine } from "./formulas.ts";
import { linked, writeFrame } from "./links.ts";

/** Elements whose text is not part of the content: controls, drawings. */
const silent = new Set(["datalist", "svg", "script", "style", "template", "noscript", "object", "map", "rp", "canvas"]);

const emphasis: Readonly<Record<string, { mark: string; flag: "strong" | "emphasis" | "deleted" }>> = {
  strong: { mark: "**", flag: "strong" },
  b: { mark: "**", flag: "strong" },
  em: { mark: "*", flag: "emphasis" },
  i: { mark: "*", flag: "emphasis" },
  dfn: { mark: "*", flag: "emphasis" },
  cite: { mark: "*", flag: "emphasis" },
  del: { mark: "~~", flag: "deleted" },
  s: { mark: "~~", flag: "deleted" },
  strike: { mark: "~~", flag: "deleted" },
};

/** Text of several nodes as a part of one paragraph. White space is folded, a line break is "\n"; marks are not resolved. */
export function writeInline(nodes: readonly ChildNode[], scope: Scope, writer: Writer): string {
  let text = "";
  for (const node of nodes) {
    if (isText(node)) {
      const data = foldSpace(node.data);
      text += markText(isFormulaScript(node.prev) ? data.replace(/^ (?=[.,;:)])/, "") : data, scope.inCell);
    } else if (isTag(node)) {
      text = joinPieces(text, writeElement(node, scope, writer));
    }
  }
  return text;
}

/** A script is nothing to a browser, so that authors put white space after it. */
function isFormulaScript(node: ChildNode | null): boolean {
  return node !== null && isTag(node) && node.name === "script";
}

/** Also removes signs that nobody sees, which would divide words: soft hyphens, spaces without a width. */
function foldSpace(text: string): string {
  const seen = /[\u00ad\u200b\u2060\ufeff]/.test(text) ? text.replaceAll(/[\u00ad\u200b\u2060\ufeff]/g, "") : text;
  return /[^\S ]| {2}/.test(seen) ? seen.replaceAll(/\s+/g, " ") : seen;
}

/** A complete paragraph: marks resolved, spaces at its edges and around line breaks removed, at most one line break at a time. */
export function finishParagraph(marked: string): string {
  const text = marked.trim();
  const folded = text.includes("  ") ? text.replaceAll(/ +/g, " ") : text;
  if (!folded.includes("\n")) return escapeLineStarts(resolveMarks(folded));
  return escapeLineStarts(resolveMarks(folded.replaceAll(/ ?\n ?/g, "\n"))).replaceAll("\n", "  \n");
}

/** A complete text that must stay on one line: a heading, a cell, the summary of something. */
export function finishLine(marked: string): string {
  return resolveMarks(foldSpace(marked).trim());
}

function writeElement(element: Element, scope: Scope, writer: Writer): string {
  const { name, attribs } = element;
  const formula = formulaOf(element);
  if (formula !== undefined) {
    const isDisplay = isOnOwnLine(element) && !scope.inCell && !scope.inHeading;
    return delimited(scope.inCell ? formulaForCell(formula) : formula, isDisplay);
  }
  const emphasised = emphasis[name];
  if (emphasised !== undefined) return writeEmphasis(element, emphasised, scope, writer);
  switch (name) {
    case "br":
      return scope.inHeading ? " " : "\n";
    case "a":
      return writeLink(element, scope, writer);
    case "img":
      return writeImage(element, scope);
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      return writeCode(element, scope);
    case "input":
    case "select":
    case "textarea":
    case "progress":
    case "meter":
      return writeField(element, scope);
    case "time":
    case "data":
      return (
        writer.inline(element.children, scope) || markText(attribs["datetime"] ?? attribs["value"] ?? "", scope.inCell)
      );
    case "q":
      return `“${writer.inline(element.children, scope)}”`;
    case "sup":
    case "sub":
      return writeRaised(element, scope, writer);
    case "button":
      return isHeadline(element, scope) ? writer.inline(element.children, scope) : "";
    case "iframe":
    case "video":
    case "audio":
      return writeFrame(element);
    case "rt":
      return `(${writer.inline(element.children, scope)})`;
    default:
      if (silent.has(name) || (attribs["aria-hidden"] === "true" && name === "i")) return "";
      return isBlockName(name) ? ` ${writer.inline(element.children, scope)} ` : writer.inline(element.children, scope);
  }
}

/** A button that opens a part of the content is its heading; others are controls. */
function isHeadline({ attribs }: Element, { inHeading }: Scope): boolean {
  return inHeading || attribs["aria-expanded"] !== undefined || attribs["aria-controls"] !== undefined;
}

function writeEmphasis(
  { children }: Element,
  { mark, flag }: { mark: string; flag: "strong" | "emphasis" | "deleted" },
  scope: Scope,
  writer: Writer,
): string {
  if (scope[flag] || (flag === "strong" && scope.inHeading)) return writer.inline(children, scope);
  return surround(writer.inline(children, { ...scope, [flag]: true }), mark);
}

function writeLink(element: Element, scope: Scope, writer: Writer): string {
  const { attribs, children } = element;
  const label = writer.footnotes.labelOf(element);
  if (label !== undefined) return `[^${label}]`;
  if (writer.footnotes.isBacklink(element) || isPermalink(element)) return "";
  const text = writer.inline(children, { ...scope, inLink: true });
  const { href } = attribs;
  if (scope.inLink || href === undefined) return text;
  return linked(text, href, attribs["title"]);
}

/** A link from a heading to itself. */
function isPermalink({ attribs, children }: Element): boolean {
  if (
    /(^|\s)(headerlink|heading-anchor|header-anchor|hash-link|anchor-link|anchorjs-link|octicon-link)(\s|$)/.test(
      attribs["class"] ?? "",
    )
  )
    return true;
  const [only] = children;
  return (
    children.length === 1 &&
    only !== undefined &&
    isText(only) &&
    /^\s*[¶#§🔗]\s*$/u.test(only.data) &&
    (attribs["href"] ?? "").includes("#")
  );
}

function writeImage({ attribs }: Element, { inCell }: Scope): string {
  const source = attribs["src"];
  if (source === undefined || isPixel(attribs)) return "";
  const alternative = finishLine(markText((attribs["alt"] ?? "").slice(0, alternativeCharactersMax), inCell))
    .replaceAll(/[[\]]/g, "\\$&")
    .replaceAll("\\\\", "\\");
  const title = attribs["title"];
  const named =
    title === undefined || title.trim() === "" || title === attribs["alt"] ? "" : ` "${escapeTitle(title)}"`;
  return `![${alternative}](${source.startsWith("<") ? source : escapeAddress(source)}${named})`;
}

/** Characters of an image's alternative text. */
const alternativeCharactersMax = 2_000;

/** Images of one pixel count visits. */
function isPixel(attribs: Readonly<Record<string, string>>): boolean {
  return /^[01](px)?$/.test(attribs["width"] ?? "") && /^[01](px)?$/.test(attribs["height"] ?? "");
}

function writeCode(element: Element, scope: Scope): string {
  const [only] = element.children;
  // Documentation generators put the link into the code; Markdown has it around.
  if (element.children.length === 1 && only !== undefined && isTag(only) && only.name === "a" && !scope.inLink) {
    const href = only.attribs["href"];
    const span = codeSpan(textContent(only));
    return href === undefined || span === "" ? span : linked(span, href, only.attribs["title"]);
  }
  const text = textContent(element);
  const span = codeSpan(scope.inCell ? text.replaceAll("|", "\\|") : text);
  return span === "" && text !== "" ? " " : span;
}

const lowered = "₀₁₂₃₄₅₆₇₈₉";

const raised: Readonly<Record<string, string>> = {
  "0": "⁰",
  "1": "¹",
  "2": "²",
  "3": "³",
  "4": "⁴",
  "5": "⁵",
  "6": "⁶",
  "7": "⁷",
  "8": "⁸",
  "9": "⁹",
  "+": "⁺",
  "-": "⁻",
  "−": "⁻",
};

/** Exponents and the numbers in chemical formulas keep their meaning; other raised text ("1st") reads well without. */
function writeRaised({ name, children }: Element, scope: Scope, writer: Writer): string {
  const text = writer.inline(children, scope);
  if (!/^[-+−]?\d{1,4}$/.test(text)) return text;
  if (name === "sub")
    return /^\d+$/.test(text) ? text.replaceAll(/\d/g, (digit) => lowered[Number(digit)] ?? digit) : text;
  return text.replaceAll(/./g, (character) => raised[character] ?? character);
}
