/**
 * Counts, per 1,000 words, the habits of language that make comments and documents hard for a newcomer; exits with 1 beyond a
 * bound.
 *
 *     npm run words                       this repository
 *     npm run words -- --list src/ledger  every occurrence in the files whose path begins so
 *     npm run words -- --of ../kysely/src the TypeScript of another project, by the same rules
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Glob } from "bun";
import { table } from "./shared/markdown.ts";
import { root } from "./shared/steps.ts";
import { countHabits, findHabits, habits, proseOf } from "./words/count-words.ts";
import { scopes, type Scope } from "./words/scopes.ts";

const { values: options } = parseArgs({ options: { list: { type: "string" }, of: { type: "string" } } });

async function readScope(folder: string, { name, patterns }: Scope) {
  const found = await Promise.all(patterns.map((pattern) => Array.fromAsync(new Glob(pattern).scan({ cwd: folder }))));
  const paths = found.flat().filter((path) => !/(?:^|\/)node_modules\//.test(path));
  const read = paths.toSorted().map(async (path) => proseOf(path, await Bun.file(resolve(folder, path)).text()));
  return { name, proses: await Promise.all(read) };
}

const folder = options.of === undefined ? root : resolve(options.of);
const wanted = options.of === undefined ? scopes : [{ name: "comments", patterns: ["**/*.ts"] }];
const areas = await Promise.all(wanted.map((scope) => readScope(folder, scope)));
const measured = areas.map(({ name, proses }) => ({ name, ...countHabits(proses) }));

if (options.list !== undefined) {
  const { list } = options;
  const chosen = areas.flatMap(({ proses }) => proses).filter(({ path }) => path.startsWith(list));
  for (const { path, habit, excerpt } of chosen.flatMap(findHabits))
    console.log(`${path}: ${habit.name}: … ${excerpt} …`);
} else {
  const rows = measured.map(({ name, words, counts }) => [
    name,
    String(words),
    ...counts.map(
      ({ count, perThousand, isExceeded }) => `${perThousand.toFixed(2)} (${count})${isExceeded ? " ✗" : ""}`,
    ),
  ]);
  const bounds = ["at most", "", ...habits.map(({ perThousandMax }) => String(perThousandMax))];
  console.log(table(["per 1,000 words", "words", ...habits.map(({ name }) => name)], [...rows, bounds]));
}
if (options.of === undefined && measured.some(({ counts }) => counts.some(({ isExceeded }) => isExceeded)))
  process.exit(1);
