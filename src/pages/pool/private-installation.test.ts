import { expect, test } from "bun:test";
import { cpSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

interface Package {
  dependencies?: Record<string, string>;
}

const packageAt = (folder: string): Package =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Package;

/** The packages that a gateway needs, without the program that runs it. */
function packagesOf({ dependencies = {} }: Package, found = new Set<string>()): Set<string> {
  for (const name of Object.keys(dependencies)) {
    if (found.has(name) || name === "bun") continue;
    found.add(name);
    packagesOf(packageAt(join(root, "node_modules", name)), found);
  }
  return found;
}

/** Links of files, if the file system permits them, which cost neither space nor time. */
function copyTo(folder: string, path: string): void {
  cpSync(join(root, path), join(folder, path), {
    recursive: true,
    filter: (from, to) => {
      if (statSync(from).isDirectory()) return true;
      mkdirSync(dirname(to), { recursive: true });
      try {
        linkSync(from, to);
        return false;
      } catch {
        return true;
      }
    },
  });
}

test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)(
  "children read documents of each kind, though their user cannot read the installation of a gateway of root",
  async () => {
    // Its own user's alone.
    const folder = mkdtempSync(join(tmpdir(), "tollgate-private-"));
    try {
      for (const name of packagesOf(packageAt(root))) copyTo(folder, join("node_modules", name));
      for (const path of ["package.json", "tsconfig.json", "src"]) copyTo(folder, path);
      const script = join(folder, "src/pages/__fixtures__/all-kinds.ts");
      const child = Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "pipe", cwd: folder });
      const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect([await child.exited, errors]).toEqual([0, ""]);
      expect(JSON.parse(text)).toEqual({
        kinds: ["html", "text", "json", "csv", "feed", "docx", "pdf"],
        pages: 1,
        wanted: [true],
        isSame: false,
        isDrawn: true,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
