import { dirname, join } from "node:path/posix";
import { type Argument, type EcmaScriptModule, type Expression, parseSync, type Program, Visitor } from "oxc-parser";

/** An import of one of our own files; type imports and `import()` types count like any other. */
export interface OwnImport {
  /** The imported file, relative to the repository's root. */
  readonly target: string;
  readonly line: number;
}

/** A text in the code: a string literal or the fixed part of a template. */
interface Text {
  readonly value: string;
  readonly line: number;
}

/** `new Name(…)` or `name(…)` of an imported name. */
export interface Construction {
  readonly name: string;
  readonly isNew: boolean;
  readonly target: string;
  readonly line: number;
}

/** The facts about a file that the rules need. */
export interface Module {
  readonly path: string;
  readonly imports: readonly OwnImport[];
  readonly texts: readonly Text[];
  /** The texts that the code decides by: `x === "…"`, `case "…":`, `includes("…")`. */
  readonly comparisons: readonly Text[];
  readonly constructions: readonly Construction[];
  /** The names of object properties that hold a literal number. */
  readonly numericProperties: readonly Text[];
}

/** Parses one file. Throws if that fails: an unparsed file must not pass. */
export function parseModule(path: string, source: string): Module {
  const { errors, module, program } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`);
  const at: Position = {
    lineOf: (offset) => source.slice(0, offset).split("\n").length,
    targetOf: (specifier) => (specifier.startsWith(".") ? join(dirname(path), specifier) : undefined),
  };
  const content = readContent(program, importedNames(module, at), at);
  return { path, ...content, imports: [...staticImports(module, at), ...content.imports] };
}

interface Position {
  readonly lineOf: (offset: number) => number;
  /** The file of ours that a specifier means; undefined for a package. */
  readonly targetOf: (specifier: string) => string | undefined;
}

function staticImports(module: EcmaScriptModule, at: Position): OwnImport[] {
  const reExports = module.staticExports.flatMap(({ entries, start }) =>
    entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : { moduleRequest, start })),
  );
  return [...module.staticImports, ...reExports].flatMap(({ moduleRequest, start }) =>
    ownImport(moduleRequest.value, start, at),
  );
}

function ownImport(specifier: string, offset: number, { lineOf, targetOf }: Position): OwnImport[] {
  const target = targetOf(specifier);
  return target === undefined ? [] : [{ target, line: lineOf(offset) }];
}

/** Local name → the file of ours that it comes from. */
function importedNames(module: EcmaScriptModule, { targetOf }: Position): ReadonlyMap<string, string> {
  const pairs = module.staticImports.flatMap(({ entries, moduleRequest }) => {
    const target = targetOf(moduleRequest.value);
    return target === undefined ? [] : entries.map(({ localName }) => [localName.value, target] as const);
  });
  return new Map(pairs);
}

function readContent(program: Program, names: ReadonlyMap<string, string>, at: Position) {
  const imports: OwnImport[] = [];
  const texts: Text[] = [];
  const comparisons: Text[] = [];
  const constructions: Construction[] = [];
  const numericProperties: Text[] = [];

  const addConstruction = (callee: Expression, isNew: boolean, start: number) => {
    const name = nameOf(callee);
    const target = name === undefined ? undefined : names.get(name);
    if (name !== undefined && target !== undefined) constructions.push({ name, isNew, target, line: at.lineOf(start) });
  };
  const addComparison = (node: Argument | null) => {
    if (node?.type !== "Literal" || typeof node.value !== "string") return;
    comparisons.push({ value: node.value, line: at.lineOf(node.start) });
  };

  new Visitor({
    ImportExpression: ({ source, start }) => imports.push(...ownImport(fixedText(source) ?? "", start, at)),
    TSImportType: ({ source, start }) => imports.push(...ownImport(source.value, start, at)),
    Literal: ({ value, start }) => {
      if (typeof value === "string") texts.push({ value, line: at.lineOf(start) });
    },
    TemplateElement: ({ value, start }) => texts.push({ value: value.raw, line: at.lineOf(start) }),
    NewExpression: ({ callee, start }) => addConstruction(callee, true, start),
    CallExpression: ({ callee, arguments: values, start }) => {
      addConstruction(callee, false, start);
      if (isLookup(callee)) for (const value of values) addComparison(value);
    },
    SwitchCase: ({ test }) => addComparison(test),
    BinaryExpression: ({ left, right }) => {
      addComparison(left);
      addComparison(right);
    },
    Property: ({ key, value, start }) => {
      const name = nameOf(key);
      const isNumber = value.type === "Literal" && typeof value.value === "number";
      if (name !== undefined && isNumber) numericProperties.push({ value: name, line: at.lineOf(start) });
    },
  }).visit(program);
  return { imports, texts, comparisons, constructions, numericProperties };
}

function nameOf(node: { readonly type: string; readonly name?: unknown }): string | undefined {
  return node.type === "Identifier" && typeof node.name === "string" ? node.name : undefined;
}

/** The text of a literal, or of a template that nothing is put into. */
function fixedText(node: Expression): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral" || node.expressions.length > 0) return undefined;
  return node.quasis[0]?.value.raw;
}

function isLookup(callee: Expression): boolean {
  if (callee.type !== "MemberExpression") return false;
  return ["includes", "has", "get", "startsWith"].includes(nameOf(callee.property) ?? "");
}
