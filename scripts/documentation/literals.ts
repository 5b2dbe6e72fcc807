/** JSON values as literals of the languages of the samples. */

const INDENT = "    ";

/** A value in JSON, on several lines if it is long. */
export function jsonLiteral(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return listed(value, indent, { ...jsonBrackets, open: "[", close: "]", write: jsonLiteral });
  const write = ([name, member]: [string, unknown], deeper: string): string =>
    `${JSON.stringify(name)}: ${jsonLiteral(member, deeper)}`;
  return listed(Object.entries(value), indent, { ...jsonBrackets, open: "{ ", close: " }", write });
}

/** A value in Python. */
export function pythonLiteral(value: unknown, indent = ""): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return listed(value, indent, { open: "[", close: "]", write: pythonLiteral });
  if (typeof value !== "object") return JSON.stringify(value);
  const write = ([name, member]: [string, unknown], deeper: string): string =>
    `${JSON.stringify(name)}: ${pythonLiteral(member, deeper)}`;
  return listed(Object.entries(value), indent, { open: "{", close: "}", write });
}

/** A value in TypeScript. `before` is the number of characters that stand on its first line. */
export function typeScriptLiteral(value: unknown, indent = "", before = 0): string {
  const step = "  ";
  if (Array.isArray(value))
    return listed(value, indent, { open: "[", close: "]", write: typeScriptLiteral, step, before });
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const write = ([name, member]: [string, unknown], deeper: string): string =>
    `${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}: ${typeScriptLiteral(member, deeper)}`;
  return listed(Object.entries(value), indent, { open: "{ ", close: " }", write, step, before });
}

/** The arguments of a call in Python, one on each line. */
export function pythonArguments(body: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(body).map(([name, value]) => `${INDENT}${name}=${pythonLiteral(value, INDENT)},\n`);
  return `\n${lines.join("")}`;
}

/** JSON has no comma behind the last item. */
const jsonBrackets = { step: "  ", last: "" };

interface Brackets<Item> {
  open: string;
  close: string;
  write: (item: Item, indent: string) => string;
  /** The indentation of a line below another. */
  step?: string;
  /** Behind the last of several lines. */
  last?: string;
  /** The characters before it on its first line, without the indentation. */
  before?: number;
}

const LINE_CHARACTERS = 64;

/** On one line if it fits. */
function listed<Item>(items: readonly Item[], indent: string, brackets: Brackets<Item>): string {
  const { open, close, write, step = INDENT, last = ",", before = 0 } = brackets;
  if (items.length === 0) return `${open.trim()}${close.trim()}`;
  const line = `${open}${items.map((item) => write(item, indent)).join(", ")}${close}`;
  if (!line.includes("\n") && indent.length + before + line.length <= LINE_CHARACTERS) return line;
  const deeper = `${indent}${step}`;
  const lines = items.map((item) => `${deeper}${write(item, deeper)}`);
  return `${open.trim()}\n${lines.join(",\n")}${last}\n${indent}${close.trim()}`;
}
