import {
  castsPerThousandLinesMax,
  classLinesMax,
  classMembersMax,
  exceptions,
  functionLinesMax,
  nestingMax,
} from "./limits.ts";
import { countCasts, measure, type Measured } from "./measure.ts";

/** Production code: without tests and what only they use. */
const isProduction = (path: string): boolean => /^src\/(?!.*(?:\.test\.|__fixtures__\/))/.test(path);

/** Everything above the limits in these source files (path → text), as advice: one line a finding. */
export function checkSizes(sources: ReadonlyMap<string, string>, allowed = exceptions): string[] {
  const production = [...sources].filter(([path]) => isProduction(path));
  const measured = production.flatMap(([path, source]) => measure(path, source));
  const found = measured.flatMap((each) => findingsOf(each).map((finding) => ({ ...each, finding })));
  const listed = Object.keys(allowed);
  return [
    ...found
      .filter(({ name }) => !listed.includes(name))
      .map(({ name, line, finding }) => `${name.replace(" ", `:${line} `)}: ${finding}`),
    ...listed
      .filter((name) => found.every((each) => each.name !== name))
      .map((name) => `${name} is an exception in scripts/sizes/limits.ts and within the limits; remove it there`),
    ...castFindings(production),
  ];
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
  const casts = production.reduce((sum, [path, source]) => sum + countCasts(path, source), 0);
  const lines = production.reduce((sum, [, source]) => sum + source.split("\n").length - 1, 0);
  const castsMax = Math.floor((castsPerThousandLinesMax * lines) / 1_000);
  if (casts <= castsMax) return [];
  return [`src/ has ${casts} casts, more than ${castsMax}: narrow or parse the value, so that the compiler follows`];
}
