/** The console's style sheet: Tailwind's rules for the classes that the sources name, and uPlot's own. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Scanner } from "@tailwindcss/oxide";
import { compile } from "tailwindcss";

const SOURCE = "console/src/styles.css";

export async function buildStyles(root: string): Promise<string> {
  const base = join(root, dirname(SOURCE));
  const scanner = new Scanner({ sources: [{ base, pattern: "**/*.{ts,tsx}", negated: false }] });
  const sheet = await compile(readFileSync(join(root, SOURCE), "utf8"), { base, loadStylesheet });
  return compact(sheet.build(scanner.scan().toSorted()));
}

/** A style sheet that another one imports by the name of a package. */
async function loadStylesheet(id: string, base: string) {
  const path = fileURLToPath(import.meta.resolve(id === "tailwindcss" ? "tailwindcss/index.css" : id));
  return { path, base, content: readFileSync(path, "utf8") };
}

/** Without comments, but licences, and without indentation. */
function compact(css: string): string {
  return css
    .replace(/\/\*(?!!)[^]*?\*\//g, "")
    .replace(/\n\s*/g, "\n")
    .replace(/\n{2,}/g, "\n");
}
