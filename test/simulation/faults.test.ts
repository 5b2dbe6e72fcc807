/** The simulation finds faults: each patch in `faults/` puts one into a copy of the sources. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { SEEDS_OF_ALL_PAIRS, simulate } from "./simulate.ts";

const root = join(import.meta.dir, "../..");
const folder = join(import.meta.dir, "faults");

/** The finding of each fault. */
const findings: Readonly<Record<string, RegExp>> = {
  "shared-promise": /never comes to rest|spins|more passed/,
  "lost-answer-as-failure": /left open/,
  "end-not-awaited": /before it was charged/,
  "resume-with-a-reason-left": /more passed/,
  "unbounded-list": /messages wait/,
  "asked-response-forgotten": /were asked for/,
  "left-text-unpaid": /aborted, and cost/,
  "budget-kept-by-move": /the books drift/,
};

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "tollgate-faults-"));
  const isNeeded = (path: string): boolean => !/\.test\.ts$|__fixtures__$/.test(path);
  for (const path of ["src", "test/simulation", "test/kit", "package.json"])
    cpSync(join(root, path), join(copy, path), { recursive: true, filter: isNeeded });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

/** Applies a patch to the copy, or takes it back. */
function apply(patch: string, ...options: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", "apply", ...options, patch], { cwd: copy });
  if (exitCode !== 0) throw new Error(`${basename(patch)} does not apply any more:\n${stderr.toString()}`);
}

const patches = readdirSync(folder).map((file) => basename(file, ".patch"));

test("every fault has a patch and a finding", () => {
  expect(patches.toSorted()).toEqual(Object.keys(findings).toSorted());
});

describe("within a thousand seeds, the simulation finds", () => {
  test.each(patches)("%s", async (name) => {
    const patch = join(folder, `${name}.patch`);
    apply(patch);
    try {
      const { failure } = await simulate({ first: 0, count: SEEDS_OF_ALL_PAIRS, processes: 2, root: copy });
      expect(failure?.finding).toMatch(findings[name] ?? /^$/);
    } finally {
      apply(patch, "--reverse");
    }
  });
});
