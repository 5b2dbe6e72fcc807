import { type Document, type Element, isText } from "domhandler";
import { elementsOf } from "../walk.ts";
import { type Declarations, readDeclarations } from "./looks.ts";

/** Characters of a page's style sheets that are read, and rules that are kept. */
const cssCharactersMax = 1024 * 1024;
const rulesMax = 20_000;

/** Levels of conditions around a rule. */
const levelsMax = 8;

/** The window of a reader, in pixels: what media queries are compared with. */
const windowPixels = { width: 1280, height: 800 };

/** A rule with a selector of one element: a name, classes and an id. */
interface Rule {
  readonly name: string | undefined;
  readonly id: string | undefined;
  readonly classes: readonly string[];
  /** Ids, classes and names, as one number, then the place in the sheet. */
  readonly rank: number;
  readonly declarations: Declarations;
}

const none: readonly Rule[] = [];

/** The rules of a page's own style sheets that can hide an element by what it is, not by its place. */
export class StyleRules {
  readonly #rules = new Map<string, Rule[]>();
  readonly #known = new Map<string, Declarations | undefined>();
  #count = 0;

  constructor(document: Document) {
    let left = cssCharactersMax;
    for (const element of elementsOf(document)) {
      if (element.name !== "style" || !isForScreens(element.attribs["media"] ?? "")) continue;
      const css = element.children.map((child) => (isText(child) ? child.data : "")).join("");
      left -= css.length;
      if (left < 0) break;
      this.#read(css.replaceAll(/\/\*[\s\S]*?(?:\*\/|$)|<!--|-->/g, ""), 0);
    }
  }

  /** The declarations for an element; undefined if there are none. */
  of({ name, attribs }: Element): Declarations | undefined {
    if (this.#count === 0) return undefined;
    const { id = "", class: names = "" } = attribs;
    const key = `${name} ${id} ${names}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const classes = names === "" ? [] : names.split(/\s+/);
    const found = [`#${id}`, ...new Set(classes.map((one) => `.${one}`)), name, "*"]
      .flatMap((one) => this.#rules.get(one) ?? none)
      .filter((rule) => isFor(rule, name, id, classes))
      .toSorted((one, other) => one.rank - other.rank);
    const declarations = found.length === 0 ? undefined : merge(found);
    this.#known.set(key, declarations);
    return declarations;
  }

  /** Reads blocks one after the other; those of conditions that hold are read into. */
  #read(css: string, level: number): void {
    let at = 0;
    for (let open = css.indexOf("{", at); open >= 0; open = css.indexOf("{", at)) {
      const head = css.slice(at, open);
      const end = endOfBlock(css, open);
      const body = css.slice(open + 1, end);
      at = end + 1;
      const selector = head.slice(head.lastIndexOf(";") + 1).trim();
      if (!selector.startsWith("@")) this.#add(selector, body);
      else if (level < levelsMax && isConditionMet(selector)) this.#read(body, level + 1);
    }
  }

  #add(selectors: string, body: string): void {
    const declarations = readDeclarations(body);
    if (declarations === undefined) return;
    for (const selector of selectors.split(",")) {
      const [, name, rest] = /^(\*|[a-z][\w-]*)?((?:[.#][\w-]+)*)$/i.exec(selector.trim()) ?? [];
      if ((name === undefined && (rest ?? "") === "") || this.#count >= rulesMax) continue;
      this.#count += 1;
      this.#put(name === "*" ? undefined : name?.toLowerCase(), rest ?? "", declarations);
    }
  }

  #put(name: string | undefined, rest: string, declarations: Declarations): void {
    const classes = [...rest.matchAll(/\.([\w-]+)/g)].map(([, one = ""]) => one);
    const id = /#([\w-]+)/.exec(rest)?.[1];
    const weight = (id === undefined ? 0 : 100) + classes.length * 10 + (name === undefined ? 0 : 1);
    const key = id === undefined ? (classes[0] === undefined ? (name ?? "*") : `.${classes[0]}`) : `#${id}`;
    const rules = this.#rules.get(key) ?? [];
    this.#rules.set(key, rules);
    rules.push({ name, id, classes, rank: weight * rulesMax + this.#count, declarations });
  }
}

function isFor(rule: Rule, name: string, id: string, classes: readonly string[]): boolean {
  if (rule.name !== undefined && rule.name !== name) return false;
  if (rule.id !== undefined && rule.id !== id) return false;
  return rule.classes.every((one) => classes.includes(one));
}

function merge(rules: readonly Rule[]): Declarations {
  const normal: Record<string, string> = {};
  const important: Record<string, string> = {};
  for (const { declarations } of rules) {
    Object.assign(normal, declarations.normal);
    Object.assign(important, declarations.important);
  }
  return { normal, important };
}

/** The place of the brace that ends the block, or the end of the sheet. */
function endOfBlock(css: string, open: number): number {
  const braces = /[{}]/g;
  braces.lastIndex = open + 1;
  let depth = 1;
  for (let found = braces.exec(css); found !== null; found = braces.exec(css)) {
    depth += found[0] === "{" ? 1 : -1;
    if (depth === 0) return found.index;
  }
  return css.length;
}

function isConditionMet(condition: string): boolean {
  const [, name = "", query = ""] = /^@([\w-]+)\s*([\s\S]*)$/.exec(condition) ?? [];
  if (name === "media") return isForScreens(query);
  return name === "layer" || name === "supports";
}

/** Whether a list of media queries is about the window of a reader. A feature that isn't known doesn't hold. */
function isForScreens(queries: string): boolean {
  return (
    queries.trim() === "" ||
    queries
      .toLowerCase()
      .split(",")
      .some((query) => isMet(query.trim()))
  );
}

function isMet(query: string): boolean {
  return query.split(/\sand\s/).every((part) => {
    if (/^(only\s+)?(screen|all)$/.test(part.trim())) return true;
    const [, bound, side, amount, unit] =
      /^\(\s*(min|max)-(width|height)\s*:\s*(\d+(?:\.\d+)?)(px|em|rem)\s*\)$/.exec(part.trim()) ?? [];
    if (bound === undefined) return false;
    const pixels = Number(amount) * (unit === "px" ? 1 : 16);
    const own = side === "width" ? windowPixels.width : windowPixels.height;
    return bound === "min" ? own >= pixels : own <= pixels;
  });
}
