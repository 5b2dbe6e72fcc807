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
import { table } from "./shared/markdown.ts";
import { root } from "./shared/steps.ts";
import { countHabits, findHabits, habits } from "./words/count-words.ts";
import { readScope, scopes } from "./words/scopes.ts";

const { values: options } = parseArgs({ options: { list: { type: "string" }, of: { type: "string" } } });

const folder = options.of === undefined ? root : resolve(options.of);
const wanted = options.of === undefined ? scopes : [{ name: "comments", patterns: ["**/*.ts"] }];
const areas = await Promise.all(
  wanted.map(async (scope) => ({ name: scope.name, proses: await readScope(folder, scope) })),
);
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
