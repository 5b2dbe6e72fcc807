import { type ChildNode, type Element, isTag, isText } from "domhandler";
import { textContent } from "domutils";
import { isBlockName } from "./block-names.ts";
import { codeSpan } from "./code.ts";
import type { Scope, Writer } from "./context.ts";
import {
  escapeAddress,
  escapeLineStarts,
  escapeLinkText,
  escapeTitle,
  isMarked,
  markText,
  resolveMarks,
} from "./escape.ts";
import { delimited, formulaOf, isOnOwnLine } from "./formulas.ts";

/** Elements whose text is not part of the content: controls, drawings. */
const silent = new Set([
  "select",
  "textarea",
  "datalist",
  "svg",
  "script",
  "style",
  "template",
  "noscript",
  "object",
  "progress",
  "meter",
  "map",
  "rp",
  "canvas",
  "audio",
]);

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
      const piece = writeElement(node, scope, writer);
      const mark = commonMark(text, piece);
      text = mark === "" ? text + piece : text.slice(0, -mark.length) + piece.slice(mark.length);
    }
  }
  return text;
}

/** Both emphases at once, which begin and end with either. */
const BOTH_STARS = 3;

/** The mark of emphasis that ends one text and begins the next: neighbours of the same emphasis are one. */
function commonMark(text: string, next: string): string {
  const sign = next.slice(0, 1);
  if ((sign !== "*" && sign !== "~") || !text.endsWith(sign)) return "";
  let begins = 1;
  while (next[begins] === sign) begins += 1;
  let ends = 0;
  // A sign of the text itself is marked.
  while (text.at(-1 - ends) === sign && !isMarked(text, text.length - 1 - ends)) ends += 1;
  const isSame = begins === ends || begins === BOTH_STARS || ends === BOTH_STARS;
  return isSame ? sign.repeat(Math.min(begins, ends)) : "";
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
    return delimited(scope.inCell ? formula.replaceAll("|", "\\|") : formula, isDisplay);
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
      return writeInput(element, scope);
    case "q":
      return `“${writer.inline(element.children, scope)}”`;
    case "sup":
    case "sub":
      return writeRaised(element, scope, writer);
    case "button":
      return isHeadline(element, scope) ? writer.inline(element.children, scope) : "";
    case "iframe":
    case "video":
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

/** Puts marks of emphasis around a text, inside of its outer spaces, and around each paragraph in it. */
export function surround(text: string, mark: string): string {
  if (text.includes("\n") && /\n\s*\n/.test(text)) {
    return text
      .split(/(\s*\n\s*\n\s*)/)
      .map((part, index) => (index % 2 === 0 ? surround(part, mark) : part))
      .join("");
  }
  const inner = text.trim();
  if (inner === "") return text === "" ? "" : " ";
  const start = text.indexOf(inner);
  return `${text.slice(0, start)}${mark}${inner}${mark}${text.slice(start + inner.length)}`;
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

/** A text as a link; spaces at its edges stay outside. */
export function linked(text: string, href: string, title: string | undefined): string {
  const inner = text.replaceAll(/\s*\n\s*/g, " ").trim();
  if (inner === "") return text === "" ? "" : " ";
  const leading = /^\s/.test(text) ? " " : "";
  const trailing = /\s$/.test(text) ? " " : "";
  const named = title === undefined || title.trim() === "" || title.trim() === inner ? "" : ` "${escapeTitle(title)}"`;
  return `${leading}[${escapeLinkText(inner)}](${escapeAddress(href)}${named})${trailing}`;
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

function writeInput({ attribs }: Element, { depth }: Scope): string {
  if (attribs["type"]?.toLowerCase() !== "checkbox" || depth === 0) return "";
  return attribs["checked"] === undefined ? "[ ] " : "[x] ";
}

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

/** Exponents keep their meaning; other raised text ("1st") reads well without. */
function writeRaised({ name, children }: Element, scope: Scope, writer: Writer): string {
  const text = writer.inline(children, scope);
  if (name === "sub" || !/^[-+−]?\d{1,4}$/.test(text)) return text;
  return text.replaceAll(/./g, (character) => raised[character] ?? character);
}

/** Videos that are part of a page, as a link to a page that plays them. */
export function writeFrame({ name, attribs, children }: Element): string {
  const inner = children.filter(isTag).find((child) => child.name === "source");
  const source = attribs["src"] ?? inner?.attribs["src"];
  if (source === undefined || source.startsWith("data:")) return "";
  const watch = name === "iframe" ? watchAddress(source) : source;
  return watch === undefined
    ? ""
    : linked(markText(attribs["title"]?.trim() ?? "", false) || "Video", watch, undefined);
}

function watchAddress(source: string): string | undefined {
  const youtube = /youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/.exec(source)?.[1];
  if (youtube !== undefined) return `https://www.youtube.com/watch?v=${youtube}`;
  const vimeo = /player\.vimeo\.com\/video\/(\d+)/.exec(source)?.[1];
  if (vimeo !== undefined) return `https://vimeo.com/${vimeo}`;
  return /dailymotion\.com|wistia\.(com|net)|loom\.com|twitch\.tv|bilibili\.com|ted\.com|vidyard\.com|brightcove/.test(
    source,
  )
    ? source
    : undefined;
}
