import {
  castsPerThousandLinesMax,
  classLinesMax,
  classMembersMax,
  exceptions,
  functionLinesMax,
  nestingMax,
  toBeSplit,
} from "./limits.ts";
import { castsOf, measure, type Measured } from "./measure.ts";

/** Production code: without tests and what only they use. */
const isProduction = (path: string): boolean => /^src\/(?!.*(?:\.test\.|__fixtures__\/))/.test(path);

/** Everything above the limits in these source files (path → text), as advice: one line a finding. */
export function checkSizes(sources: ReadonlyMap<string, string>, allowed = exceptions): string[] {
  const production = productionOf(sources);
  const found = production.flatMap(findOversized);
  const listed = Object.keys(allowed);
  return [
    ...found.filter(({ name }) => !listed.includes(name) && !toBeSplit.includes(name)).map(({ finding }) => finding),
    ...listed
      .filter((name) => found.every((each) => each.name !== name))
      .map((name) => `${name} is an exception in scripts/sizes/limits.ts and within the limits; remove it there`),
    ...castFindings(production),
  ];
}

/** Everything above the limits, excepted or not, and each cast: one line each. */
export function listSizes(sources: ReadonlyMap<string, string>): string[] {
  const production = productionOf(sources);
  return [
    ...production.flatMap(findOversized).map(({ finding }) => finding),
    ...production.flatMap(([path, source]) => castsOf(path, source).map((line) => `${path}:${line}: a cast`)),
  ];
}

function productionOf(sources: ReadonlyMap<string, string>): [path: string, source: string][] {
  return [...sources].filter(([path]) => isProduction(path));
}

function findOversized([path, source]: [string, string]): { name: string; finding: string }[] {
  return measure(path, source).flatMap((each) =>
    findingsOf(each).map((finding) => ({
      name: each.name,
      finding: `${each.name.replace(" ", `:${each.line} `)}: ${finding}`,
    })),
  );
}

function findingsOf({ lines, members, nesting }: Measured): string[] {
  const linesMax = members === undefined ? functionLinesMax : classLinesMax;
  return [
    ...(lines > linesMax ? [`has ${lines} lines, more than ${linesMax}; it holds two ideas, so split it`] : []),
    ...(members !== undefined && members > classMembersMax
      ? [`has ${members} members, more than ${classMembersMax}; give what belongs together a class of its own`]
      : []),
    ...(nesting > nestingMax
      ? [`is nested ${nesting} deep, more than ${nestingMax}; return early, or name a part`]
      : []),
  ];
}

function castFindings(production: readonly [string, string][]): string[] {
  const casts = production.reduce((sum, [path, source]) => sum + castsOf(path, source).length, 0);
  const lines = production.reduce((sum, [, source]) => sum + source.split("\n").length - 1, 0);
  const castsMax = Math.floor((castsPerThousandLinesMax * lines) / 1_000);
  if (casts <= castsMax) return [];
  return [`src/ has ${casts} casts, more than ${castsMax}: narrow or parse the value, so that the compiler follows`];
}
