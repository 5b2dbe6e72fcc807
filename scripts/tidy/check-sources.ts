import { sharedProviderFolders } from "../import-rule/layout.ts";
type Sources = ReadonlyMap<string, string>;

const linesMax = 500;
/** Files of src/ that stand flat in one folder, tests left out. */
const flatFilesMax = 20;
const leftovers = /\b(FIXME|TODO|XXX)\b/;
const testRestriction = /\b(?:test|it|describe)\.(only|todo)\b/;
const exportedType = /^export (?:declare )?(?:abstract )?(?:class|interface|type) (\w+)/gm;

/** This folder contains the words that it searches for. */
const ownFolder = "scripts/tidy/";

/** The style guide's rules for every source file (path → text), as advice: one line per finding. */
export function checkSources(sources: Sources): string[] {
  const ofEachFile = [...sources].flatMap(([path, text]) => [...checkName(path), ...checkText(path, text)]);
  const paths = [...sources.keys()];
  return [...ofEachFile, ...checkFolders(paths), ...checkProviderFolders(paths), ...checkTypeNames(sources)];
}

function checkName(path: string): string[] {
  const isKebabCase = path.split("/").every((part) => /^(__fixtures__|[a-z0-9]+([-.][a-z0-9]+)*)$/.test(part));
  return isKebabCase ? [] : [`${path}: name files and folders in kebab-case`];
}

function checkText(path: string, text: string): string[] {
  const lines = text.split("\n");
  const length = lines.length - 1;
  const read = path.startsWith(ownFolder) ? [] : lines;
  return [
    ...(length > linesMax
      ? [`${path}: has ${length} lines, more than ${linesMax}; it holds two ideas, so split it`]
      : []),
    ...read.flatMap((line, index) => checkLine(line).map((advice) => `${path}:${index + 1}: ${advice}`)),
    ...(path.endsWith(".test.ts") && !text.includes("expect(") ? [`${path}: expects nothing; assert the promise`] : []),
  ];
}

function checkLine(line: string): string[] {
  const leftover = leftovers.exec(line)?.[1];
  const restriction = testRestriction.exec(line)?.[0];
  const isBareDisable = /\b(ox|es)lint-disable/.test(line) && !/-disable\S* .*-- \S/.test(line);
  return [
    ...(leftover === undefined ? [] : [`says ${leftover}: do it now, or drop it`]),
    ...(restriction === undefined
      ? []
      : [`${restriction} leaves tests out: write the test, or test.skip with a reason`]),
    ...(isBareDisable ? ["a disabled rule says why: `oxlint-disable-next-line NAME -- REASON`"] : []),
  ];
}

/** Two types of one name make a reader look up which is meant. Each tree (`src`, `test` …) has its own names. */
function checkTypeNames(sources: Sources): string[] {
  const owners = new Map<string, string>();
  return [...sources].flatMap(([path, text]) => {
    const tree = path.slice(0, path.indexOf("/"));
    return [...text.matchAll(exportedType)].flatMap(([, name = ""]) => {
      const key = `${tree} ${name}`;
      const owner = owners.get(key);
      owners.set(key, owner ?? path);
      return owner === undefined ? [] : [`${path}: exports a type named ${name}, as ${owner} does; rename one`];
    });
  });
}

/** A folder should be readable at a glance; a larger one contains two topics. */
function checkFolders(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (folder.startsWith("src") && !path.endsWith(".test.ts")) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > flatFilesMax)
    .map(
      ([folder, count]) =>
        `${folder}: has ${count} files, more than ${flatFilesMax}; give what belongs together a folder`,
    );
}

/**
 * A file that all other provider folders have must not be missing from one; if several lack it, they do not support it.
 */
function checkProviderFolders(paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    const [, provider, file] = /^src\/providers\/([^/.]+)\/([^/]+)$/.exec(path) ?? [];
    if (provider === undefined || file === undefined || sharedProviderFolders.includes(provider)) return [];
    return file.endsWith(".test.ts") ? [] : [{ provider, file }];
  });
  const providers = [...new Set(files.map(({ provider }) => provider))];
  const has = (wanted: string, name: string) =>
    files.some(({ provider, file }) => provider === wanted && file === name);
  const usual = [...new Set(files.map(({ file }) => file))].filter(
    (name) => providers.filter((provider) => has(provider, name)).length >= providers.length - 1,
  );
  return providers.flatMap((provider) =>
    usual
      .filter((name) => !has(provider, name))
      .map((name) => `src/providers/${provider}: lacks ${name}, which all others have`),
  );
}
