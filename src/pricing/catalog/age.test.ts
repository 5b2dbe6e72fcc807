import { expect, test } from "bun:test";
import { ageText, catalogAge } from "./age.ts";

const at = Date.parse("2026-11-27T12:00:00Z");
const catalog = (layer: string, made?: string) => ({ layer, made });

test("the newest catalog counts, whichever layer it is in", () => {
  const [own, builtIn] = [catalog("catalog prices.json", "2026-11-25"), catalog("built-in", "2026-11-01")];
  expect(catalogAge([own, builtIn], at)).toEqual({ layer: own.layer, made: "2026-11-25", days: 2, isOld: false });
  expect(catalogAge([catalog("catalog prices.json", "2026-10-01"), builtIn], at)?.layer).toBe("built-in");
});

test("a catalog without a day leaves it to the others", () => {
  expect(catalogAge([catalog("catalog own.json"), catalog("built-in", "2026-11-27")], at)?.layer).toBe("built-in");
  expect(catalogAge([catalog("catalog own.json")], at)).toBeUndefined();
});

test.each([
  ["2026-11-28", 0, false],
  ["2026-11-26", 1, false],
  ["2026-11-13", 14, false],
  ["2026-11-12", 15, true],
])("one of %s is %d days old; old: %p", (made, days, isOld) => {
  const age = catalogAge([catalog("built-in", made)], at);
  expect(age).toMatchObject({ days, isOld });
  expect(age && ageText(age)).toBe(
    `prices of ${made} (built-in), ${days} ${days === 1 ? "day" : "days"} old${isOld ? "; a newer catalog: docs/prices.md" : ""}`,
  );
});
