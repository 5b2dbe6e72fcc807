import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../shared/steps.ts";
import { cutChangelog, partOf } from "./changelog.ts";
import { requireLater } from "./files.ts";

const changelog = "# Changelog\n\n## Unreleased\n\n### Added\n\n- This.\n\n## 0.1.0 (2026-01-02)\n\n- That.\n";

describe("the changelog", () => {
  test("keeps a place for what comes, above the release that is cut", () => {
    const cut = cutChangelog(changelog, "0.2.0", "2026-02-03");
    expect(cut).toBe(changelog.replace("## Unreleased", "## Unreleased\n\n## 0.2.0 (2026-02-03)"));
    expect(partOf(cut, "0.2.0")).toBe("### Added\n\n- This.");
    expect(partOf(cut, "0.1.0")).toBe("- That.");
    expect(partOf(cut, "0.1")).toBeUndefined();
    expect(() => cutChangelog(cut, "0.3.0", "2026-02-03")).toThrow("nothing below");
    expect(() => cutChangelog(changelog, "0.1.0", "2026-02-03")).toThrow("has 0.1.0 already");
  });
});

test.each([
  ["0.1.0", "does not come after"],
  ["0.0.9", "does not come after"],
  ["0.1.0-rc.1", "does not come after"],
  ["1", "no version"],
  ["v0.2.0", "no version"],
  ["0.2.0\n", "no version"],
])("%j is no next version of 0.1.0", (version, reason) => {
  expect(() => requireLater(version, "0.1.0")).toThrow(reason);
  for (const next of ["0.1.1", "0.2.0-rc.1", "1.0.0"]) requireLater(next, "0.1.0");
});

describe("the command", () => {
  const files = [
    "package.json",
    "package-lock.json",
    "CHANGELOG.md",
    "deploy/helm/tollgate/Chart.yaml",
    "docs/production.md",
    "scripts/release.ts",
    "scripts/release",
    "scripts/shared/steps.ts",
  ];
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), "tollgate-release-"));
    for (const file of files) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      cpSync(join(root, file), join(copy, file), { recursive: true });
    }
    writeFileSync(join(copy, "scripts/generate.ts"), `await Bun.write("generated", "");`);
    const text = read("CHANGELOG.md");
    // Nothing may have come since the last release.
    if (partOf(text, "Unreleased") === "")
      writeFileSync(join(copy, "CHANGELOG.md"), text.replace("## Unreleased\n", "## Unreleased\n\n- This.\n"));
  });
  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  const read = (file: string): string => readFileSync(join(copy, file), "utf8");

  function release(args: readonly string[], variables: Record<string, string> = {}) {
    const child = Bun.spawnSync([process.execPath, join(copy, "scripts/release.ts"), ...args], {
      env: { PATH: process.env["PATH"] ?? "", ...variables },
      stdout: "pipe",
      stderr: "pipe",
    });
    return { code: child.exitCode, printed: child.stdout.toString(), error: child.stderr.toString().trim() };
  }

  test("gives every file the version, and the tag of that version alone may be published", () => {
    const { version: before } = JSON.parse(read("package.json")) as { version: string };
    expect(release(["--check", "v99.1.0"]).error).toContain("is not that of version");
    expect(release(["99.1.0"])).toMatchObject({ code: 0, error: "" });
    for (const file of files.slice(0, 5)) expect([file, read(file).includes("99.1.0")]).toEqual([file, true]);
    const lock = JSON.parse(read("package-lock.json")) as {
      version: string;
      packages: Record<string, { version: string }>;
    };
    expect([lock.version, lock.packages[""]?.version]).toEqual(["99.1.0", "99.1.0"]);
    expect(read("docs/production.md")).not.toContain(`tollgate-${before}.tgz`);
    expect(read("generated")).toBe("");
    expect(release(["--check", "v99.1.0"])).toMatchObject({ code: 0, error: "" });
    expect(release(["--notes", "99.1.0"]).printed.trim()).toBe(partOf(read("CHANGELOG.md"), "99.1.0") ?? "");
    expect(release(["99.1.0"])).toMatchObject({ code: 1, error: "99.1.0 does not come after 99.1.0" });
  });

  test("fills in the repository's address everywhere", () => {
    expect(release(["--repository"]).error).toContain("no address of a repository");
    expect(release(["--repository"], { REPOSITORY: "https://github.com/acme/gate" })).toMatchObject({ code: 0 });
    const { homepage, bugs, repository } = JSON.parse(read("package.json")) as Record<string, unknown>;
    expect({ homepage, bugs, repository }).toEqual({
      homepage: "https://github.com/acme/gate#readme",
      bugs: { url: "https://github.com/acme/gate/issues" },
      repository: { type: "git", url: "git+https://github.com/acme/gate.git" },
    });
    for (const file of files.slice(0, 5)) expect([file, read(file).includes("OWNER/")]).toEqual([file, false]);
  });
});
