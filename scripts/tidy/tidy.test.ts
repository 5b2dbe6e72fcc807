import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { readSources } from "../shared/source-files.ts";
import { root } from "../shared/steps.ts";
import { checkPackages } from "./check-packages.ts";
import { checkSources } from "./check-sources.ts";

describe("this repository", () => {
  test("keeps the style guide", async () => {
    const sources = await readSources(root);
    expect(sources.size).toBeGreaterThan(50);
    expect(checkSources(sources)).toEqual([]);
  });

  test("pins its packages, with licences that allow any use and no registry host", async () => {
    const manifest: unknown = await Bun.file(join(root, "package.json")).json();
    const lock: unknown = await Bun.file(join(root, "package-lock.json")).json();
    expect(checkPackages(manifest, lock)).toEqual([]);
  });
});

const clean = "export const one = 1;\n";

describe("the style guide as a check", () => {
  test("a clean tree gives no advice", () => {
    const sources = { "src/core/index.ts": clean, "src/core/one.test.ts": "expect(1).toBe(1);\n" };
    expect(advice(sources)).toEqual([]);
  });

  test.each([
    ["a leftover", "src/core/a.ts", "\n// TODO: later\n", "src/core/a.ts:2: says TODO: do it now, or drop it"],
    [
      "a long file",
      "src/core/a.ts",
      clean.repeat(501),
      "has 501 lines, more than 500; it holds two ideas, so split it",
    ],
    ["a name", "src/core/twoWords.ts", clean, "src/core/twoWords.ts: name files and folders in kebab-case"],
    ["an empty test", "src/core/a.test.ts", clean, "src/core/a.test.ts: expects nothing; assert the promise"],
    ["a lone test", "src/core/a.test.ts", "test.only(); expect(1);\n", "test.only leaves tests out"],
    ["a waiver", "src/core/a.ts", "// oxlint-disable-next-line no-shadow\n", "a disabled rule says why"],
  ])("%s is reported", (_, path, text, expected) => {
    const found = advice({ [path]: text });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test("a waiver with a reason passes", () => {
    expect(advice({ "src/core/a.ts": "// oxlint-disable-next-line no-shadow -- the inner one is meant\n" })).toEqual(
      [],
    );
  });

  test("two exported types of one name in a tree are reported", () => {
    const first = "export interface Target {}\n";
    const second = "export abstract class Target {}\n";
    expect(advice({ "src/a/a.ts": first, "src/b/b.ts": second })).toEqual([
      "src/b/b.ts: exports a type named Target, as src/a/a.ts does; rename one",
    ]);
    expect(advice({ "src/a/a.ts": first, "test/b/b.ts": second, "src/c/c.ts": "interface Target {}\n" })).toEqual([]);
  });

  test("500 lines are not too many", () => {
    expect(advice({ "src/core/a.ts": clean.repeat(500) })).toEqual([]);
  });

  test("a folder with more than twenty files is reported; tests don't count", () => {
    const files = (count: number, end: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`src/core/f${index}${end}`, "expect(1);\n"]));
    expect(advice({ ...files(20, ".ts"), ...files(5, ".test.ts") })).toEqual([]);
    expect(advice(files(21, ".ts"))).toEqual([
      "src/core: has 21 files, more than 20; give what belongs together a folder",
    ]);
  });

  test("a provider folder without a file that all others have is reported; a file that several lack is optional", () => {
    const folders = {
      openai: ["index", "chat", "speech"],
      byteplus: ["index", "chat", "speech"],
      google: ["index", "chat", "files"],
      xai: ["index"],
      shared: ["sse"],
    };
    const paths = Object.entries(folders).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}`));
    const sources = Object.fromEntries(paths.map((path) => [`src/providers/${path}.ts`, clean]));
    expect(advice(sources)).toEqual(["src/providers/xai: lacks chat.ts, which all others have"]);
  });
});

describe("the packages as a check", () => {
  const manifest = { dependencies: { zod: "4.0.0" }, devDependencies: {}, engines: { node: ">=20.19" } };
  const zod = { version: "4.0.0", license: "MIT" };

  test("pinned, free and complete gives no advice", () => {
    expect(checkPackages(manifest, { packages: { "": {}, "node_modules/zod": zod } })).toEqual([]);
  });

  test("a range is reported", () => {
    const ranged = { ...manifest, dependencies: { zod: "^4.0.0" } };
    expect(checkPackages(ranged, { packages: {} })).toEqual(["package.json: zod@^4.0.0 is no exact version; pin it"]);
  });

  test("a package that users install and that needs a newer Node.js is reported", () => {
    const locked = { "node_modules/zod": { ...zod, engines: { node: ">=22" } } };
    expect(checkPackages(manifest, { packages: locked })).toEqual([
      "package-lock.json: node_modules/zod needs Node.js >=22, package.json supports 20.19.0; use another version",
    ]);
    for (const passing of [{ engines: { node: "^18 || >=20.19.0" } }, { engines: { node: ">=22" }, dev: true }]) {
      expect(checkPackages(manifest, { packages: { "node_modules/zod": { ...zod, ...passing } } })).toEqual([]);
    }
  });

  test("a registry host, an unknown licence and a missing platform are reported", () => {
    const host = { ...zod, resolved: "https://registry.example/zod.tgz" };
    const viral = { version: "1.0.0", license: "GPL-3.0" };
    const native = { ...zod, optionalDependencies: { "@native/linux-x64-gnu": "1.0.0" } };
    const packages = { "node_modules/zod": host, "node_modules/viral": viral, "node_modules/native": native };
    expect(checkPackages(manifest, { packages })).toEqual([
      "package-lock.json: node_modules/zod names a registry host; .npmrc keeps it out",
      "package-lock.json: node_modules/viral has the licence GPL-3.0; ask before using it",
      "package-lock.json lacks node_modules/@native/linux-x64-gnu; run bun scripts/complete-lock.ts",
    ]);
  });
});

function advice(sources: Record<string, string>): string[] {
  return checkSources(new Map(Object.entries(sources)));
}
