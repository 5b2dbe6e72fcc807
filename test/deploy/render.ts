/**
 * The manifests that the Helm chart gives, with the values of values/. `bun test/deploy/render.ts` writes them to rendered/, for the tests
 * on machines without Helm.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../kit/program.ts";
import { sha256 } from "../kit/sha256.ts";
import { findTool, run } from "./tools.ts";

export const chart = join(root, "deploy/helm/tollgate");

export const cases = ["default", "full"] as const;
export type Case = (typeof cases)[number];

export const valuesOf = (name: Case): string => join(import.meta.dir, `values/${name}.yaml`);
export const renderedFile = (name: Case): string => join(import.meta.dir, `rendered/${name}.yaml`);

/** A release changes its version and no more, which is therefore not compared. */
function withoutVersion(text: string): string {
  const version = /^version: (\S+)$/m.exec(readFileSync(join(chart, "Chart.yaml"), "utf8"))?.[1];
  return version === undefined ? text : text.replaceAll(version, "VERSION");
}

/** Of everything that the manifests come from. */
export function sourceHash(name: Case): string {
  const files = readdirSync(chart, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".txt"))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const text = [...files, valuesOf(name)].map((file) => readFileSync(file, "utf8")).join("\0");
  return sha256(Buffer.from(withoutVersion(text)));
}

export function render(helm: string, name: Case): string {
  const release = [
    "template",
    "ai",
    chart,
    "--namespace",
    "ai",
    "--kube-version",
    "1.31.0",
    "--values",
    valuesOf(name),
  ];
  const { code, output } = run([helm, ...release]);
  if (code !== 0) throw new Error(output);
  return `# Rendered by test/deploy/render.ts from ${sourceHash(name)}\n${withoutVersion(output)}`;
}

if (import.meta.main) {
  const helm = findTool("helm");
  if (helm === undefined) process.exit(1);
  for (const name of cases) writeFileSync(renderedFile(name), render(helm, name));
}
