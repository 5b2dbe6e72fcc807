/** A string, a sign of its structure, or anything else up to the next of these. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Depth beyond which lines are not indented further: of a deep document most would be blanks. */
const depthMax = 20;

/**
 * Indents valid JSON. Numbers stay as they are written, and repeated members stay: a parsed value would lose digits of long
 * numbers.
 */
export function indentJson(json: string): string {
  const parts: string[] = [];
  let depth = 0;
  let isOpen = false;
  const breakLine = (): void => void parts.push(`\n${"  ".repeat(Math.min(depth, depthMax))}`);
  for (const [text] of json.matchAll(token)) {
    const closes = text === "}" || text === "]";
    if (closes) depth -= 1;
    if (closes !== isOpen) breakLine();
    isOpen = text === "{" || text === "[";
    if (isOpen) depth += 1;
    parts.push(text.startsWith('"') ? readable(text) : text === ":" ? ": " : text);
    if (text === ",") breakLine();
  }
  return parts.join("");
}

/** A string without needless escapes, which some writers have for all letters beyond ASCII. */
function readable(text: string): string {
  return text.includes("\\") ? JSON.stringify(JSON.parse(text)) : text;
}
