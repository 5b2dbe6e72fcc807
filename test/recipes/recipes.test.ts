/**
 * The recipes of CONTRIBUTING.md are followed: the patches beside this file make their changes in a copy of the
 * repository, the generated files are written, and the compiler and each recipe's own command pass. A patch that does not
 * apply any more is made again by following the recipe; if that shows the recipe to be wrong, the recipe is corrected.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../kit/index.ts";
import { testMsMax } from "../kit/time-limits.ts";

interface Recipe {
  /** The heading in CONTRIBUTING.md. */
  readonly title: string;
  /** The promised texts, by generated file. */
  readonly generates?: Readonly<Record<string, string>>;
}

const recipes: Readonly<Record<string, Recipe>> = {
  preset: {
    title: "Add a preset",
    generates: { "docs/configuration.md": "`acme`", "tollgate.schema.json": '"acme"' },
  },
  provider: { title: "Add a provider", generates: { "tollgate.schema.json": '"acme"' } },
  route: { title: "Add a route", generates: { "openapi.json": '"/v1/classify"' } },
  "price-unit": {
    title: "Add a price unit",
    generates: {
      "docs/configuration.md": "`ranked_documents_kcount`",
      "tollgate.schema.json": '"ranked_documents_kcount"',
      "openapi.json": '"ranked_documents_kcount"',
    },
  },
  price: { title: "Correct a price" },
  migration: { title: "Add a migration" },
};

const document = await Bun.file(join(root, "CONTRIBUTING.md")).text();

/** The section of a recipe. Throws if there is none. */
function sectionOf({ title }: Recipe): string {
  const section = document.split(/^## /m).find((text) => text.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`CONTRIBUTING.md has no recipe "${title}"`);
  return section;
}

/** The paths of the recipe's `npm test -- PATH…`. */
function testedPaths(recipe: Recipe): string[] {
  const paths = /npm test -- ([^`\n]+)`/.exec(sectionOf(recipe))?.[1]?.trim().split(/\s+/) ?? [];
  expect(paths).not.toEqual([]);
  return paths;
}

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "tollgate-recipes-"));
  const left = new Set(["node_modules", ".git", "data", ".venv"]);
  for (const entry of readdirSync(root).filter((name) => !left.has(name)))
    cpSync(join(root, entry), join(copy, entry), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Runs a program in the copy. Rejects with its output if it fails. */
async function run(...command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: copy, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")}\n${stdout}${stderr}`);
}

/**
 * Git must not take the copy for a part of a repository around it, and its tests start its own program, not that of this run.
 */
const environment = { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir(), TOLLGATE_TEST_RUN_FOLDER: undefined };
const bun = process.execPath;

/** The compiler's input: the whole program and its unit tests. */
const compiled = { extends: "./tsconfig.json", include: ["src", "scripts"] };

test("every recipe has a patch", () => {
  const patches = readdirSync(import.meta.dir).filter((file) => file.endsWith(".patch"));
  expect(patches.toSorted()).toEqual(
    Object.keys(recipes)
      .map((name) => `${name}.patch`)
      .toSorted(),
  );
});

describe("the recipes", () => {
  const patchOf = (name: string) => join(import.meta.dir, `${name}.patch`);

  test.each(Object.keys(recipes))("the patch of %s applies alone", (name) =>
    run("git", "apply", "--check", patchOf(name)),
  );

  // One recipe does not stand on another, so that all are made in one copy: the compiler and the tests run once for them.
  test("write their files and type-check", async () => {
    for (const name of Object.keys(recipes)) await run("git", "apply", patchOf(name));
    await run(bun, "scripts/generate.ts");
    for (const { generates = {} } of Object.values(recipes))
      for (const [file, text] of Object.entries(generates))
        expect(await Bun.file(join(copy, file)).text()).toContain(text);
    await Bun.write(join(copy, "tsconfig.recipes.json"), JSON.stringify(compiled));
    await run(join(root, "node_modules/.bin/tsc"), "--noEmit", "--project", "tsconfig.recipes.json");
    await run(bun, "scripts/import-rule.ts");
  });

  test("pass their own tests", async () => {
    const paths = new Set(Object.values(recipes).flatMap(testedPaths));
    await run(bun, "test", `--timeout=${testMsMax}`, ...paths);
  });
});
