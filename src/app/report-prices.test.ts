import { expect, test } from "bun:test";
import type { CatalogLayers } from "../pricing/index.ts";
import { reportPrices } from "./report-prices.ts";

const DAY_MS = 86_400_000;

test("the age of the catalog is logged at the start, and every day once it is old", () => {
  const made = "2026-11-01";
  let days = 13;
  const age = () => ({ layer: "built-in", made, days, isOld: days > 14 });
  const catalogs = { age } as Pick<CatalogLayers, "age"> as CatalogLayers;
  const logged: [string, object, string][] = [];
  const logger = {
    info: (fields: object, message: string) => void logged.push(["info", fields, message]),
    warn: (fields: object, message: string) => void logged.push(["warn", fields, message]),
  };
  let nextDay = (): void => undefined;
  let stopped = false;
  const stop = reportPrices({
    catalogs: () => catalogs,
    clock: () => 0,
    logger,
    every: (milliseconds, onDue) => {
      expect(milliseconds).toBe(DAY_MS);
      nextDay = () => {
        days += 1;
        onDue();
      };
      return () => void (stopped = true);
    },
  });
  const catalog = { catalog: "built-in", made };
  expect(logged).toEqual([["info", { ...catalog, days: 13 }, "the price catalog in force"]]);
  nextDay();
  expect(logged).toHaveLength(1);
  nextDay();
  nextDay();
  const old = "the price catalog is old; a newer one: docs/prices.md";
  expect(logged.slice(1)).toEqual([
    ["warn", { ...catalog, days: 15 }, old],
    ["warn", { ...catalog, days: 16 }, old],
  ]);
  stop();
  expect(stopped).toBe(true);
});
