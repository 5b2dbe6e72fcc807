import { describe, expect, test } from "bun:test";
import { loadConfig } from "./load.ts";

const retentionOf = (retention: string) =>
  loadConfig({ file: "tollgate.yaml", text: `retention: ${retention}`, variables: {} }).config.retention;

describe("retention", () => {
  test("keeps entries for so long, and exports them before it removes them", () => {
    expect(retentionOf("{ generations: 400d, export: exports }")).toEqual({
      generations: 400 * 86_400_000,
      export: "exports",
      every: 86_400_000,
    });
  });

  test.each([
    ["{ generations: 400d }", "retention.export"],
    ["{ generations: 1d, export: exports }", "retention.generations: keep at least two days"],
    ["{ generations: 9d, export: exports, every: 1h }", "retention.every: a day at least"],
  ])("%s is refused", (text, reason) => {
    expect(() => retentionOf(text)).toThrow(reason);
  });
});
