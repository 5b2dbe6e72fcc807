import {
  compositionFolder,
  isTest,
  isSchema,
  layoutFile,
  levels,
  partsForCommands,
  placeOf,
  providerBlindFolders,
  recordMakers,
  routeFolders,
  sharedProviderFolders,
  standaloneAreas,
  threadPrograms,
  unitTestKit,
  valueFolders,
} from "./layout.ts";
import type { Construction, Module, OwnImport } from "./parse-module.ts";

/** A broken rule: its place, its name, and its fix. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly advice: string;
}

type Advice = string | undefined;

const importRules: Record<string, (path: string, target: string) => Advice> = {
  "rule 1 (levels)": importsUpwards,
  "rule 2 (providers stand alone)": importsOtherProvider,
  "rule 5 (areas)": importsForeignArea,
  "rule 6 (index.ts only)": importsInnerFile,
};

/** Violations within a single file; cycles are searched in all files together. */
export function checkModule(module: Module, providerNames: ReadonlySet<string>): Violation[] {
  return [
    ...checkPlace(module.path),
    ...module.imports.flatMap((ownImport) => checkImport(module.path, ownImport)),
    ...(isTest(module.path) ? [] : [...checkConstructions(module), ...checkContent(module, providerNames)]),
  ];
}

function checkPlace(path: string): Violation[] {
  const { area, folder, level } = placeOf(path);
  if (area !== "src" || level !== undefined) return [];
  const advice = `${folder} has no level: put the file into a folder of the layout, or give it a level in ${layoutFile}`;
  return [{ path, line: 1, rule: "rule 1 (levels)", advice }];
}

function checkImport(path: string, { target, line }: OwnImport): Violation[] {
  return Object.entries(importRules).flatMap(([rule, check]) => {
    const advice = check(path, target);
    return advice === undefined ? [] : [{ path, line, rule, advice: `imports ${target}: ${advice}` }];
  });
}

function importsUpwards(path: string, target: string): Advice {
  const from = placeOf(path);
  const to = placeOf(target);
  if (from.level === undefined || to.level === undefined || from.folder === to.folder) return undefined;
  if (to.level < from.level) return undefined;
  const relation = to.level === from.level ? "a sibling of" : "above";
  return `${to.folder} is ${relation} ${from.folder}; move what both need into a lower folder, or take it as an option from app/`;
}

function importsOtherProvider(path: string, target: string): Advice {
  const from = placeOf(path).provider;
  const to = placeOf(target).provider;
  if (from === undefined || to === undefined || from === to) return undefined;
  if (sharedProviderFolders.includes(to)) return undefined;
  return sharedProviderFolders.includes(from)
    ? `providers/${from}/ knows no provider; pass in what differs`
    : "a provider never imports another; move what three or more need to providers/shared/";
}

function importsForeignArea(path: string, target: string): Advice {
  const from = placeOf(path).area;
  const to = placeOf(target).area;
  const isRootFile = !target.includes("/");
  if (from === to || isRootFile) return undefined;
  if (from === "src" && isTest(path) && target.startsWith(unitTestKit)) return undefined;
  if (from === "src")
    return "src/ imports nothing outside of src/; start it as a separate process, or move the test to test/";
  if (to === "src" && standaloneAreas.includes(from))
    return `${from}/ talks HTTP only; write its own encoder and types`;
  return undefined;
}

function importsInnerFile(path: string, target: string): Advice {
  const from = placeOf(path);
  const to = placeOf(target);
  if (to.area !== "src") return undefined;
  if (from.area === "src" && from.folder === to.folder) return importsInnerProviderFile(from.provider, target);
  // Fixtures of a folder's unit tests may be used by the folders above it.
  if (isTest(path) && isSharedByTests(target)) return undefined;
  if (threadPrograms.includes(path)) return undefined;
  if (from.folder === compositionFolder && isSchema(target)) return undefined;
  if ((from.level ?? 0) >= compositionLevel && partsForCommands.includes(target)) return undefined;
  if (to.folder === compositionFolder) return undefined;
  const isFolderFile = target.split("/").length > 2;
  if (!isFolderFile || target === `src/${to.folder}/index.ts`) return undefined;
  return `export it from src/${to.folder}/index.ts and import that`;
}

/** Inside src/providers/: the registry sees a provider through its index.ts, as any other folder would. */
function importsInnerProviderFile(fromProvider: string | undefined, target: string): Advice {
  const to = placeOf(target).provider;
  if (fromProvider !== undefined || to === undefined || to === "shared") return undefined;
  const index = `src/providers/${to}/index.ts`;
  return target === index ? undefined : `export it from ${index} and import that`;
}

function isSharedByTests(path: string): boolean {
  return path.includes("/__fixtures__/");
}

/** The lowest level that builds things. */
const compositionLevel = levels.findIndex((names) => names.includes(compositionFolder));

function checkConstructions({ path, constructions }: Module): Violation[] {
  const { area, folder, level } = placeOf(path);
  if (area !== "src" || level === undefined || level >= compositionLevel) return [];
  return constructions
    .filter(({ target }) => placeOf(target).folder !== folder)
    .filter(isPartOfApplication)
    .map(({ name, isNew, line }) => {
      const advice = `${isNew ? "new " : ""}${name}(…): app/ builds it; take the built one in the options object`;
      return { path, line, rule: "rule 3 (only app/ constructs)", advice };
    });
}

function isPartOfApplication({ name, isNew, target }: Construction): boolean {
  if (valueFolders.includes(placeOf(target).folder ?? "") || name.endsWith("Error")) return false;
  return isNew || (/^(create|open|start|connect)[A-Z]/.test(name) && !recordMakers.includes(name));
}

const sql =
  /\b(SELECT\s[^;]*\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|CREATE\s+(TABLE|INDEX)\s|PRAGMA\s)/i;
const priceName = /(_mtok|_kcount|price)$/i;

function checkContent(
  { path, texts, comparisons, numericProperties }: Module,
  providerNames: ReadonlySet<string>,
): Violation[] {
  const folder = placeOf(path).folder ?? "";
  const rule = "rule 4 (no SQL, provider names, prices)";
  const sqlTexts = holdsSql(path) ? [] : texts.filter(({ value }) => sql.test(value));
  const names = providerBlindFolders.includes(folder)
    ? comparisons.filter(({ value }) => providerNames.has(value))
    : [];
  const prices = routeFolders.includes(folder) ? numericProperties.filter(({ value }) => priceName.test(value)) : [];
  return [
    ...sqlTexts.map(({ line }) => {
      return { path, line, rule, advice: "SQL belongs into storage/ or the sql/ folder of its feature" };
    }),
    ...names.map(({ line, value }) => {
      return {
        path,
        line,
        rule,
        advice: `decides by the provider's name "${value}": read a capability that the provider declares`,
      };
    }),
    ...prices.map(({ line, value }) => {
      return { path, line, rule, advice: `holds the price ${value}: prices belong into pricing/ and the config` };
    }),
  ];
}

function holdsSql(path: string): boolean {
  const [area, folder, ...rest] = path.split("/");
  return area !== "src" || folder === "storage" || rest.includes("sql");
}
