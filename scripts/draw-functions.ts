/**
 * Draws functions of `src/` at random, for reading them as a stranger would: `bun scripts/draw-functions.ts SEED [COUNT]`.
 * The same seed draws the same functions from the same sources; prints one path and name per line.
 */
import { parseSync } from "oxc-parser";
import { readSources } from "./shared/source-files.ts";
import { root } from "./shared/steps.ts";

interface Named {
  type: string;
  key?: { name?: string };
  id?: { name?: string } | null;
}

function functionsOf(path: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (typeof node !== "object" || node === null) return;
    const { type, key, id } = node as Named;
    if (type === "FunctionDeclaration" && id?.name !== undefined) found.push(`${path} ${id.name}`);
    if (type === "MethodDefinition" && key?.name !== undefined) found.push(`${path} ${key.name}`);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(path, source).program);
  return found;
}

/** A linear congruential generator (constants of Numerical Recipes), so that a seed means the same on every machine. */
function randomIndexes(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const [seed = "1", count = "20"] = process.argv.slice(2);
const sources = [...(await readSources(root))].filter(([path]) =>
  /^src\/(?!.*(?:\.test\.|__fixtures__|testing\/))/.test(path),
);
const functions = sources.flatMap(([path, source]) => functionsOf(path, source));
const next = randomIndexes(Number(seed));
for (let drawn = 0; drawn < Number(count) && functions.length > 0; drawn += 1) {
  console.log(functions.splice(next(functions.length), 1)[0]);
}
