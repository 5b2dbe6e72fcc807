/** Files for programs that do not run here, checked by those programs' own tools as far as this machine has them. */
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPython, root } from "../kit/index.ts";
import { findTool, run } from "./tools.ts";

const clean = { code: 0, output: "" };

const python = await findPython("test/deploy/requirements.txt");
if ("missing" in python) console.log(`skipped: hadolint, ${python.missing}`);

test.skipIf("missing" in python)("hadolint finds nothing in the Dockerfile", () => {
  const hadolint = "python" in python ? join(python.python, "../hadolint") : "";
  expect(run([hadolint, join(root, "deploy/Dockerfile")])).toEqual(clean);
});

const actionlint = findTool("actionlint");

test.skipIf(actionlint === undefined)("actionlint finds nothing in the workflows", () => {
  const workflows = [...new Bun.Glob(".github/workflows/*.yml").scanSync({ cwd: root, dot: true, absolute: true })];
  expect(workflows.length).toBeGreaterThan(0);
  expect(run([actionlint ?? "", ...workflows])).toEqual(clean);
});

const systemd = findTool("systemd-analyze");

test.skipIf(systemd === undefined).each([
  ["tollgate.service", "tollgate.service"],
  ["tollgate@.service", "tollgate@blue.service"],
])("systemd accepts %s, and finds it hardened", (file, instance) => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-units-"));
  try {
    // The program is not installed here.
    const unit = readFileSync(join(root, "deploy", file), "utf8").replace("=/usr/local/bin/tollgate", "=/bin/true");
    writeFileSync(join(folder, instance), unit);
    expect(run([systemd ?? "", "verify", join(folder, instance)])).toEqual(clean);
    // Of 100: a unit without any of its settings has 96.
    const exposure = run([systemd ?? "", "security", "--offline=true", "--threshold=30", join(folder, instance)]);
    expect(exposure.output).toContain("Overall exposure level");
    expect(exposure.code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
