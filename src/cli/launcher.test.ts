import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launcherCommand } from "./launcher.ts";

describe("launcherCommand", () => {
  let folder: string;
  let launcher: string;
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "tollgate-launcher-")));
    launcher = join(folder, "lib/tollgate/bin/tollgate");
    for (const path of ["lib/tollgate/bin", "bin", "other", "node_modules/.bin"]) {
      mkdirSync(join(folder, path), { recursive: true });
    }
    for (const file of ["lib/tollgate/bin/tollgate", "other/tollgate"])
      writeFileSync(join(folder, file), "", { mode: 0o755 });
    for (const link of ["bin/tollgate", "node_modules/.bin/tollgate"]) symlinkSync(launcher, join(folder, link));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const commandWith = (...folders: string[]): string =>
    launcherCommand(folders.map((path) => join(folder, path)).join(delimiter), launcher);

  test("is the bare name after a global installation", () => {
    expect(commandWith("lib", "bin")).toBe("tollgate");
    expect(commandWith("bin", "other")).toBe("tollgate");
  });

  test("is the path if a shell would find another tollgate first, or none", () => {
    expect(commandWith("other", "bin")).toBe(launcher);
    expect(commandWith("lib")).toBe(launcher);
    expect(launcherCommand("", launcher)).toBe(launcher);
  });

  test("ignores the folders that npm adds to PATH while it runs a script", () => {
    expect(commandWith("node_modules/.bin")).toBe(launcher);
    expect(commandWith("node_modules/.bin", "bin")).toBe("tollgate");
  });
});
