import { parseSync } from "oxc-parser";

/** A function or class of a source file, with what is bounded of it. */
export interface Measured {
  /** `path name`, the name by which an exception lists it. */
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  /** Of a class: its fields, methods and accessors. */
  readonly members: number | undefined;
  /** Of a function: how deep its branches and loops are nested. */
  readonly nesting: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);
const CLASSES: ReadonlySet<string> = new Set(["ClassDeclaration", "ClassExpression"]);
const BRANCHES: ReadonlySet<string> = new Set([
  "IfStatement",
  "ForStatement",
  "ForOfStatement",
  "ForInStatement",
  "WhileStatement",
  "DoWhileStatement",
  "SwitchStatement",
  "TryStatement",
]);

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** The nodes directly below a node. */
function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );
}

/** The functions and classes of a source file. Throws if it cannot be parsed. */
export function measure(path: string, source: string): Measured[] {
  const lineStarts = [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)];
  const lineOf = (offset: number): number => lineStarts.findLastIndex((start) => start <= offset) + 1;
  const found: Measured[] = [];
  const visit = (node: Node, name: string): void => {
    const own = nameOf(node) ?? name;
    if (FUNCTIONS.has(node.type) || CLASSES.has(node.type)) {
      const line = lineOf(node.start);
      const members = CLASSES.has(node.type) ? membersOf(node) : undefined;
      const nesting = members === undefined ? nestingOf(node) : 0;
      found.push({ name: `${path} ${own}`, line, lines: lineOf(node.end) - line + 1, members, nesting });
    }
    for (const child of childrenOf(node)) visit(child, own);
  };
  visit(parse(path, source), "");
  return found;
}

/** The lines of the casts of a source file: `x as T`, without `as const`. */
export function castsOf(path: string, source: string): number[] {
  const casts: number[] = [];
  const visit = (node: Node): void => {
    if (node.type === "TSAsExpression" && !source.slice(0, node.end).endsWith(" const"))
      casts.push(source.slice(0, node.end).split("\n").length);
    childrenOf(node).forEach(visit);
  };
  visit(parse(path, source));
  return casts;
}

function parse(path: string, source: string): Node {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0 || !isNode(program)) throw new Error(`${path} cannot be parsed`);
  return program;
}

/** The name that a declaration, a method or a variable gives to what it holds. */
function nameOf(node: Node): string | undefined {
  const { id, key } = node;
  const named = isNode(id) ? id : isNode(key) ? key : undefined;
  const name = named?.["name"];
  if (typeof name !== "string") return undefined;
  return named?.type === "PrivateIdentifier" ? `#${name}` : name;
}

function membersOf(node: Node): number {
  const { body } = node;
  return isNode(body) && Array.isArray(body["body"]) ? body["body"].length : 0;
}

/** Nested functions count for themselves. An `else if` is no deeper than its `if`. */
function nestingOf(node: Node): number {
  const depthOf = (below: Node, isElse: boolean): number => {
    if (FUNCTIONS.has(below.type) || CLASSES.has(below.type)) return 0;
    const own = BRANCHES.has(below.type) && !isElse ? 1 : 0;
    const isElseIf = (child: Node): boolean =>
      below.type === "IfStatement" && child === below["alternate"] && child.type === "IfStatement";
    return own + Math.max(0, ...childrenOf(below).map((child) => depthOf(child, isElseIf(child))));
  };
  return Math.max(0, ...childrenOf(node).map((child) => depthOf(child, false)));
}
