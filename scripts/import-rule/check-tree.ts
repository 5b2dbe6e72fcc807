import { findCycles } from "./find-cycles.ts";
import { placeOf } from "./layout.ts";
import { parseModule } from "./parse-module.ts";
import { checkModule, type Violation } from "./rules.ts";

/** Checks a tree of source files: path from the repository's root → text. */
export function checkTree(sources: ReadonlyMap<string, string>): Violation[] {
  const modules = [...sources].map(([path, source]) => parseModule(path, source));
  const providerNames = new Set(modules.flatMap(({ path }) => placeOf(path).provider ?? []));
  providerNames.delete("shared");
  return [...modules.flatMap((module) => checkModule(module, providerNames)), ...findCycles(modules)];
}
