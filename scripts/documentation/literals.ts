/** JSON values as literals of the languages of the samples. */

const INDENT = "    ";

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

/** A value in TypeScript. */
export function typeScriptLiteral(value: unknown, indent = ""): string {
  if (Array.isArray(value)) return listed(value, indent, { open: "[", close: "]", write: typeScriptLiteral });
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const write = ([name, member]: [string, unknown], deeper: string): string =>
    `${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}: ${typeScriptLiteral(member, deeper)}`;
  return listed(Object.entries(value), indent, { open: "{ ", close: " }", write });
}

/** The arguments of a call in Python, one on each line. */
export function pythonArguments(body: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(body).map(([name, value]) => `${INDENT}${name}=${pythonLiteral(value, INDENT)},\n`);
  return `\n${lines.join("")}`;
}

interface Brackets<Item> {
  open: string;
  close: string;
  write: (item: Item, indent: string) => string;
}

const LINE_CHARACTERS = 78;

/** On one line if it fits. */
function listed<Item>(items: readonly Item[], indent: string, { open, close, write }: Brackets<Item>): string {
  if (items.length === 0) return `${open.trim()}${close.trim()}`;
  const line = `${open}${items.map((item) => write(item, indent)).join(", ")}${close}`;
  if (!line.includes("\n") && indent.length + line.length <= LINE_CHARACTERS) return line;
  const deeper = `${indent}${INDENT}`;
  const lines = items.map((item) => `${deeper}${write(item, deeper)},\n`);
  return `${open.trim()}\n${lines.join("")}${indent}${close.trim()}`;
}
