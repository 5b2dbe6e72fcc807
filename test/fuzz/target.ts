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
  /** How often a short test tries it. */
  runs: number;
  check: (budget: Budget) => Report | Promise<Report>;
}

const RUNS = 2_000;

export function fuzzTarget<Input extends [unknown, ...unknown[]]>(
  name: string,
  property: fc.IProperty<Input>,
): FuzzTarget {
  return {
    name,
    runs: RUNS,
    check: (budget) => reportOf(fc.check(property, budget)),
  };
}

interface Live<Scene, Input extends [unknown, ...unknown[]]> {
  runs: number;
  start: () => Promise<Scene>;
  property: (scene: Scene) => fc.IAsyncProperty<Input>;
  /** Rejects if the runs have left something wrong. */
  stop: (scene: Scene) => Promise<void>;
}

/** A property of something that runs: it is started for each check, and stopped after it. */
export function liveTarget<Scene, Input extends [unknown, ...unknown[]]>(
  name: string,
  { runs, start, property, stop }: Live<Scene, Input>,
): FuzzTarget {
  return {
    name,
    runs,
    async check(budget) {
      const scene = await start();
      const report = reportOf(await fc.check(property(scene), budget));
      try {
        await stop(scene);
      } catch (reason) {
        return { ...report, failure: report.failure ?? String(reason) };
      }
      return report;
    },
  };
}

function reportOf<Input>(details: fc.RunDetails<Input>): Report {
  const { numRuns: runs, seed, errorInstance: error } = details;
  if (!details.failed || details.interrupted) return { runs, seed, failure: undefined };
  const reason = error instanceof Error ? error.stack : String(error);
  return { runs, seed, failure: `${fc.defaultReportMessage(details)}\n${reason}` };
}
