import { resolve } from "node:path";
import { Glob } from "bun";
import { type Prose, proseOf } from "./count-words.ts";

/** Files whose language is counted together; glob patterns from the repository's root. */
export interface Scope {
  readonly name: string;
  readonly patterns: readonly string[];
}

/** The scopes of `npm run words`. */
export const scopes: readonly Scope[] = [
  { name: "src", patterns: ["src/**/*.ts"] },
  { name: "test, simulators", patterns: ["test/**/*.ts", "simulators/**/*.ts"] },
  { name: "bench, scripts, examples", patterns: ["{bench,scripts,examples}/**/*.{ts,mjs}"] },
  { name: "documents", patterns: ["*.md", "docs/**/*.md", "{bench,examples}/**/*.md", "simulators/*.md"] },
];

/** The prose of all files of a scope, in the order of their paths. */
export async function readScope(folder: string, { patterns }: Scope): Promise<Prose[]> {
  const found = await Promise.all(patterns.map((pattern) => Array.fromAsync(new Glob(pattern).scan({ cwd: folder }))));
  const paths = found.flat().filter((path) => !/(?:^|\/)node_modules\//.test(path));
  const read = paths.toSorted().map(async (path) => proseOf(path, await Bun.file(resolve(folder, path)).text()));
  return Promise.all(read);
}
