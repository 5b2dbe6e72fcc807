import fc from "fast-check";

/** How long to try, and from which seed. */
interface Budget {
  numRuns: number;
  seed: number;
  /** Milliseconds, after which a run that has found nothing ends. */
  interruptAfterTimeLimit?: number;
}

interface Report {
  runs: number;
  seed: number;
  /** The smallest input found that violates the property, and how to run it again; undefined if there is none. */
  failure: string | undefined;
}

/** A property that must hold for arbitrary input. */
export interface FuzzTarget {
  name: string;
  check: (budget: Budget) => Report;
}

export function fuzzTarget<Input extends [unknown, ...unknown[]]>(
  name: string,
  property: fc.IProperty<Input>,
): FuzzTarget {
  return {
    name,
    check(budget) {
      const details = fc.check(property, budget);
      const { numRuns: runs, seed, errorInstance: error } = details;
      if (!details.failed || details.interrupted) return { runs, seed, failure: undefined };
      const reason = error instanceof Error ? error.stack : String(error);
      return { runs, seed, failure: `${fc.defaultReportMessage(details)}\n${reason}` };
    },
  };
}
