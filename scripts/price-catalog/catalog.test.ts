/** The committed catalog keeps its format, and comes from the generator; nothing is downloaded. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { catalogSchema, type CatalogModel, type TimedPrices } from "../../src/pricing/index.ts";
import { root } from "../shared/steps.ts";
import { corrections } from "./corrections/index.ts";
import { formatCatalog } from "./format.ts";

const text = await Bun.file(join(root, "src/pricing/catalog/catalog.json")).text();
const catalog = catalogSchema.parse(JSON.parse(text));
const models = Object.entries(catalog.providers).flatMap(([id, { models: own }]) =>
  Object.entries(own).map(([name, model]) => [id, name, model] as const),
);

const tablesOf = ({ prices }: CatalogModel): TimedPrices[] => (Array.isArray(prices) ? prices : [prices]);

describe("the built-in catalog", () => {
  test("is written as its generator writes it: sorted, a model a line", () => {
    expect(formatCatalog(catalog)).toBe(text);
    for (const { models: own } of Object.values(catalog.providers)) {
      expect(Object.keys(own)).toEqual(Object.keys(own).toSorted());
    }
  });

  test("has all providers, and is small enough to be read at the start", () => {
    expect(Object.keys(catalog.providers)).toEqual(Object.keys(corrections).toSorted());
    expect(models.length).toBeGreaterThan(800);
    expect(text.length).toBeLessThan(1_500_000);
  });

  test("names a source for every model", () => {
    expect(models.filter(([, , { source }]) => source.trim() === "")).toEqual([]);
  });

  test("contains a model without a charge only if its provider states that", () => {
    const isFree = (table: TimedPrices): boolean =>
      !Object.entries(table).some(([key, value]) => !["from", "daily", "days"].includes(key) && value !== 0);
    const free = models.filter(([, , model]) => tablesOf(model).some(isFree)).map(([id, name]) => `${id}/${name}`);
    const unexplained = free.filter((id) => !/^openrouter\/.*:free$|^google\/gemma-|moderation/.test(id));
    expect(unexplained).toEqual([]);
  });

  test("contains prices without the noise of binary fractions", () => {
    const digits = [...text.matchAll(/:(\d+\.\d+)/g)].map(([, number = ""]) => number.replace(/^0?\.?0*/, ""));
    expect(digits.filter((each) => each.length > 11)).toEqual([]);
  });

  test("has thresholds at whole thousands", () => {
    const starts = [...text.matchAll(/"start":(\d+)/g)].map(([, start]) => Number(start));
    expect(starts.length).toBeGreaterThan(100);
    expect(starts.filter((start) => start % 1_000 !== 0)).toEqual([]);
  });
});

test("every correction is in the catalog, or removes a name from it", () => {
  const names = new Set(
    models.flatMap(([id, name, { aliases = [] }]) => [name, ...aliases].map((each) => `${id}/${each}`)),
  );
  for (const [id, { corrections: own }] of Object.entries(corrections)) {
    for (const { names: corrected, prices } of own) {
      const isRemoved = Array.isArray(prices) && prices.length === 0;
      for (const name of corrected)
        expect([`${id}/${name}`, names.has(`${id}/${name}`)]).toEqual([`${id}/${name}`, !isRemoved]);
    }
  }
});
