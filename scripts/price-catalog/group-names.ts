import type { CatalogModel } from "../../src/pricing/index.ts";
import type { NamedModel } from "./merge.ts";

const VERSION = /-(latest|\d{4,8}|\d{4}-\d\d-\d\d|\d\d-\d{4})$/;

/**
 * Combines the names of a model, if their prices and facts are equal; all but the shortest, undated name become aliases.
 * Two names are of the same model if a source lists them so (`modelOf`), or if they differ in a date or `latest`.
 */
export function groupNames(
  models: ReadonlyMap<string, NamedModel>,
  modelOf: (name: string) => string | undefined,
): Record<string, CatalogModel> {
  const keyOf = (name: string, model: NamedModel): string =>
    JSON.stringify([modelOf(name) ?? name.replace(VERSION, ""), { ...model, source: "" }]);
  const groups = Map.groupBy(models, ([name, model]) => keyOf(name, model));
  const rows = [...groups.values()].map((group): [string, CatalogModel] => {
    const names = group.map(([name]) => name).toSorted(byPlainness);
    const [main = "", ...aliases] = names;
    const { kind, ...facts } = models.get(main) ?? { prices: {}, source: "" };
    return [main, { ...(aliases.length === 0 ? {} : { aliases }), ...(kind === undefined ? {} : { kind }), ...facts }];
  });
  return Object.fromEntries(rows.toSorted(([a], [b]) => compare(a, b)));
}

function byPlainness(a: string, b: string): number {
  return weight(a) - weight(b) || a.length - b.length || compare(a, b);
}

/** Dates and `latest` make a name a version of another. */
function weight(name: string): number {
  return VERSION.test(name) ? 1 : 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
