/** Compares Markdown with an expected text, block by block. */

export interface Expectation {
  readonly expected: string;
  readonly forbidden: readonly string[];
  readonly extraBlocksMax: number;
}

/**
 * The faults in the Markdown of a page, one line each. Every expected block must be there, in its order;
 * `extraBlocksMax` others may stand between them.
 */
export function compareMarkdown(actual: string, { expected, forbidden, extraBlocksMax }: Expectation): string[] {
  const blocks = blocksOf(actual).map(plainHeading);
  const findings: string[] = [];
  const [title = "", ...rest] = blocksOf(expected);
  const titleAt = blocks.findIndex((block) => sameTitle(block, title));
  if (titleAt === -1) findings.push(`missing: ${title}`);
  let at = titleAt + 1;
  for (const block of rest) {
    const found = blocks.indexOf(block, at);
    if (found === -1) findings.push(`missing: ${block}`);
    else at = found + 1;
  }
  const wanted = new Set([blocks[titleAt], ...rest]);
  const extra = blocks.filter((block) => !wanted.has(block));
  if (extra.length > extraBlocksMax) findings.push(...extra.map((block) => `not expected: ${block}`));
  for (const text of forbidden) if (actual.includes(text)) findings.push(`belongs to the margins: ${text}`);
  return findings;
}

/** Systems differ in the level of the heading that is the title of the page. */
function sameTitle(block: string, title: string): boolean {
  return block.startsWith("#") && block.replace(/^#+ /, "") === title.replace(/^#+ /, "");
}

/** Links within headings lead to the heading itself or to the page, and are left out. */
function plainHeading(block: string): string {
  return block.startsWith("#") ? block.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").trim() : block;
}

/** Splits Markdown at blank lines outside of code; each list item and each line of a quotation stays with its block. */
function blocksOf(markdown: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence = "";
  const end = (): void => {
    if (lines.length > 0) blocks.push(lines.join("\n"));
    lines = [];
  };
  for (const line of markdown.split("\n")) {
    const [mark = ""] = /^\s*(`{3,})/.exec(line)?.slice(1) ?? [];
    if (fence === "" && mark !== "") fence = mark;
    else if (mark !== "" && mark.length >= fence.length) fence = "";
    if (line === "" && fence === "") end();
    else lines.push(line);
  }
  end();
  return blocks;
}
