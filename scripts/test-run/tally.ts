/** How many tests came out how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A test that failed, or a file that did not report. */
interface Failure {
  readonly file: string;
  readonly test: string;
}

export interface TestReport {
  readonly tally: Tally;
  readonly failures: readonly Failure[];
}

interface TestCase {
  readonly file: string;
  readonly test: string;
  readonly outcome: keyof Tally;
}

/** Bun escapes `<`, `>` and `"` in names and messages, so a tag is always a tag. */
const testCasePattern = /<testcase\b([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs;

/**
 * Counts the tests of a JUnit report by Bun. A file of `expected` that the report doesn't hold counts as one failure:
 * it did not load, it holds no test, or its process died first.
 */
export function tallyReport(xml: string, expected: readonly string[]): TestReport {
  const testCases = Array.from(xml.matchAll(testCasePattern), ([, attributes = "", body = ""]): TestCase => {
    const outcome = /<(failure|error)\b/.test(body) ? "failed" : body.includes("<skipped") ? "skipped" : "passed";
    return { file: attribute(attributes, "file"), test: nameOf(attributes), outcome };
  });
  const reported = new Set(testCases.map(({ file }) => file));
  const silent = expected.filter((file) => !reported.has(file));
  const failures: Failure[] = [
    ...testCases.filter(({ outcome }) => outcome === "failed").map(({ file, test }) => ({ file, test })),
    ...silent.map((file) => ({
      file,
      test: "the file reported no test: it did not load, holds none, or its process died",
    })),
  ];
  const count = (wanted: keyof Tally) => testCases.filter(({ outcome }) => outcome === wanted).length;
  return { tally: { passed: count("passed"), failed: failures.length, skipped: count("skipped") }, failures };
}

function nameOf(attributes: string): string {
  return [attribute(attributes, "classname"), attribute(attributes, "name")].filter((part) => part !== "").join(" > ");
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  const entities: Record<string, string> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return value.replaceAll(/&(\w+);/g, (entity, word: string) => entities[word] ?? entity);
}

export function addTallies(...tallies: readonly Tally[]): Tally {
  const sum = (key: keyof Tally) => tallies.reduce((total, tally) => total + tally[key], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

/** The last line of `npm test`. */
export function summaryLine({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
