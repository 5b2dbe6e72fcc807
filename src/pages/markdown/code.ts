import { type AnyNode, type Element, isTag, isText, type ParentNode } from "domhandler";
import { isBlockName } from "./block-names.ts";

/** Parts of a code block that show line numbers or copy it. */
const decoration =
  /(^|\s)(line-?numbers?(-rows|-sizer)?|lineno|linenos|linenodiv|ln|gutter|line-number-cell|blob-num|hljs-ln-n(umbers|-line)?|react-syntax-highlighter-line-number|copy(-?(btn|button|code))?|clipboard-copy|btn-copy|toolbar|code-header|buttonGroup\S*|codeblock-header)(\s|$)/i;

const decorationNames = new Set(["button", "clipboard-copy", "style", "script", "svg"]);

/** The text of a code block, with its lines and its indentation. */
export function codeText(root: Element): string {
  const parts: string[] = [];
  const endsLine = (): boolean => parts.length === 0 || (parts.at(-1) ?? "").endsWith("\n");
  const waiting: (AnyNode | LineEnd)[] = root.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ("emptyAt" in node) {
      if (!endsLine() || parts.length === node.emptyAt) parts.push("\n");
    } else if (isText(node)) {
      if (node.data !== "") parts.push(node.data);
    } else if (isTag(node) && !isDecoration(node)) {
      if (node.name === "br") parts.push("\n");
      const isLine = node.name !== "td" && (isBlockName(node.name) || isLineSpan(node));
      if (isLine && !endsLine()) parts.push("\n");
      // A row without text is an empty line; other boxes without text are nothing.
      if (isLine) waiting.push({ emptyAt: node.name === "tr" || node.name === "span" ? parts.length : undefined });
      pushChildren(waiting, node);
    }
  }
  return parts
    .join("")
    .replaceAll("\r\n", "\n")
    .replaceAll("\u00a0", " ")
    .replace(/^(?:[ \t]*\n)+/, "")
    .trimEnd();
}

/** A code block with its language, if it has one. The fence is longer than any in the code. */
export function fencedCode(text: string, language: string): string {
  const longest = [...text.matchAll(/`{3,}/g)].reduce((length, [fence]) => Math.max(length, fence.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** The text of code within a line. */
export function codeSpan(text: string): string {
  const folded = text.replaceAll(/\s+/g, " ").trim();
  if (folded === "") return "";
  const runs = new Set(Array.from(folded.matchAll(/`+/g), ([run]) => run.length));
  let ticks = 1;
  while (runs.has(ticks)) ticks += 1;
  const fence = "`".repeat(ticks);
  const space = folded.startsWith("`") || folded.endsWith("`") ? " " : "";
  return `${fence}${space}${folded}${space}${fence}`;
}

/** Whether an element of a code block has no code. */
export function isDecoration({ name, attribs }: Element): boolean {
  if (decorationNames.has(name)) return true;
  if (attribs["data-line-number"] !== undefined && name === "td") return true;
  if (name === "table" || name === "code" || name === "pre") return false;
  return decoration.test(attribs["class"] ?? "");
}

/** The end of a line that an element makes, and the number of parts if it is empty. */
interface LineEnd {
  emptyAt: number | undefined;
}

function pushChildren(waiting: (AnyNode | LineEnd)[], { children }: ParentNode): void {
  for (let index = children.length - 1; index >= 0; index -= 1) {
    const child = children[index];
    if (child !== undefined) waiting.push(child);
  }
}

/** Some highlighters wrap each line without a line break between; their style in a browser separates them. */
function isLineSpan({ name, attribs, next, prev }: Element): boolean {
  if (name !== "span" && name !== "code") return false;
  if (
    !/(^|\s)(line|code-line|view-line|token-line|cl-line|gatsby-highlight-code-line)(\s|$)/.test(attribs["class"] ?? "")
  )
    return false;
  return [next, prev].some(
    (neighbour) => neighbour !== null && isTag(neighbour) && neighbour.attribs["class"] === attribs["class"],
  );
}

/** Words in classes that look like a language and are none. */
const noLanguages = new Set([
  "none",
  "plain",
  "plaintext",
  "text",
  "txt",
  "nohighlight",
  "no-highlight",
  "default",
  "undefined",
  "auto",
  "console-output",
]);

const classPatterns = [
  /(?:^|\s)(?:language|lang|highlight-source|highlight-text|brush:|sourceCode|code|src|listing)[-:\s]\s*([\w+#.-]+)/i,
  /(?:^|\s)gatsby-code-([\w+#.-]+)/i,
  /(?:^|\s)brush:\s*([\w+#-]+)/i,
  /(?:^|\s)highlight-([\w+#]+)(?:\s|$)/i,
  /(?:^|\s)prettyprint\s(?:.*\s)?lang-([\w+#]+)/i,
  /(?:^|\s)hljs\s+([\w+#-]+)/i,
  /(?:^|\s)([\w+#-]+)\s+hljs(?:\s|$)/i,
];

/** Parents of a code block that may name its language: a table with line numbers has six. */
const outerLevelsMax = 7;

/** Elements that hold more than a block of code. */
const sections = new Set(["body", "main", "article", "section", "li", "blockquote"]);

/** The language of a code block, from its own classes and attributes, those of the code in it, and of its parents. */
export function languageOf(pre: Element): string {
  const inner = pre.children.filter(isTag).find(({ name }) => name === "code");
  const parents: Element[] = [];
  for (let { parent } = pre; parent !== null && isTag(parent) && parents.length < outerLevelsMax; { parent } = parent) {
    if (sections.has(parent.name)) break;
    parents.push(parent);
  }
  for (const element of [inner, pre, ...parents]) {
    const language = element === undefined ? undefined : ownLanguage(element);
    if (language !== undefined) return noLanguages.has(language) ? "" : language;
  }
  return "";
}

function ownLanguage({ attribs }: Element): string | undefined {
  const named = attribs["data-lang"] ?? attribs["data-language"] ?? attribs["data-code-language"] ?? attribs["lang"];
  if (named !== undefined && /^[\w+#.-]{1,30}$/.test(named) && attribs["lang"] !== named) return named.toLowerCase();
  const classes = attribs["class"];
  if (classes === undefined) return undefined;
  for (const pattern of classPatterns) {
    const language = pattern.exec(classes)?.[1]?.toLowerCase();
    if (language !== undefined && language.length <= 30 && !notNames.has(language)) return language;
  }
  return undefined;
}

/** Words after `highlight-`, `code-` and the like that are no language. */
const notNames = new Set([
  "block",
  "wrapper",
  "container",
  "toolbar",
  "box",
  "snippet",
  "example",
  "highlight",
  "hljs",
  "copy",
  "body",
  "content",
  "inner",
  "source",
  "numbers",
  "line-numbers",
  "tabs",
  "group",
  "area",
  "text-html",
  "dark",
  "light",
  "theme",
  "title",
  "cell",
  "view",
]);
