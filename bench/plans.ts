import type { Options } from "./options.ts";
import type { ConsolePlan } from "./console/measure.ts";
import type { ComparisonPlan } from "./scenarios/comparison.ts";
import type { Durations } from "./scenarios/matrix.ts";
import { manyCallers } from "./scenarios/matrix.ts";
import type { OpenLoopPlan } from "./scenarios/open-loop.ts";
import type { RoutesPlan } from "./routes/measure.ts";
import type { RealtimePlan } from "./realtime/measure.ts";
import type { ToolsPlan } from "./tools/measure.ts";

const full: Durations = {
  rounds: 3,
  warmUpSliceSeconds: 1,
  warmUpSlicesMax: 15,
  oneCallerSeconds: 2,
  manyCallersSeconds: 2.5,
};

/** Too short for Node.js to get warm: ratios to Portkey come out too good for us. */
const quick: Durations = {
  rounds: 1,
  warmUpSliceSeconds: 0.8,
  warmUpSlicesMax: 5,
  oneCallerSeconds: 1,
  manyCallersSeconds: 1.6,
};

/**
 * Just long enough for each of 16 callers to get an answer of a large body. On a machine that other work keeps busy, a
 * round's ratio of a program to itself strays by 1.4 % with such turns and by 10 % with turns of a second.
 */
const TURN_SECONDS = 0.025;
const fullComparison: ComparisonPlan = { rounds: 5, warmUpTurns: 400, turns: 320, turnSeconds: TURN_SECONDS };
const quickComparison: ComparisonPlan = { rounds: 1, warmUpTurns: 60, turns: 160, turnSeconds: TURN_SECONDS };

export function durationsOf(options: Options): Durations {
  const durations = options.quick ? quick : full;
  return { ...durations, rounds: options.rounds ?? durations.rounds };
}

/**
 * The p99 of an instance halves within its first ten thousands of calls, while the JIT compiler works. A round has 4,000 calls at the lower rate: four of them are above its p99.9. */
const fullOpenLoop: OpenLoopPlan = { rounds: 3, warmUpSeconds: 12, seconds: 8 };
const quickOpenLoop: OpenLoopPlan = { rounds: 1, warmUpSeconds: 3, seconds: 4 };

export function openLoopPlanOf(options: Options): OpenLoopPlan {
  const plan = options.quick ? quickOpenLoop : fullOpenLoop;
  return { ...plan, rounds: options.rounds ?? plan.rounds };
}

const fullRealtime: RealtimePlan = { rounds: 3, warmUpSeconds: 8, seconds: 25 };
const quickRealtime: RealtimePlan = { rounds: 1, warmUpSeconds: 3, seconds: 5 };

export function realtimePlanOf(options: Options): RealtimePlan {
  const plan = options.quick ? quickRealtime : fullRealtime;
  return { ...plan, rounds: options.rounds ?? plan.rounds };
}

const fullRoutes: RoutesPlan = {
  comparison: { rounds: 3, turns: 160, warmUpTurns: 200, turnSeconds: 0.025 },
  rounds: 3,
  warmUpSeconds: 2,
  seconds: 2,
  openSeconds: 8,
};
const quickRoutes: RoutesPlan = { ...fullRoutes, comparison: { ...fullRoutes.comparison, rounds: 1 }, rounds: 1 };

export function routesPlanOf(options: Options): RoutesPlan {
  const plan = options.quick ? quickRoutes : fullRoutes;
  const rounds = options.rounds ?? plan.rounds;
  return { ...plan, rounds, comparison: { ...plan.comparison, rounds } };
}

/** Four budgets cost little beside a call: the rounds are those of a comparison of two checkouts. */
export function budgetsPlanOf(options: Options): ComparisonPlan {
  return { ...comparisonPlanOf(options), callers: 64 };
}

/** Rows of the frontier, and choices of the next pages. */
export function frontierPlanOf({ quick: isQuick }: Options): { rows: number; takes: number } {
  return isQuick ? { rows: 100_000, takes: 200 } : { rows: 1_000_000, takes: 1_000 };
}

/** Pages of the local search, and searches. */
export function searchPlanOf({ quick: isQuick }: Options): { pages: number; searches: number } {
  return isQuick ? { pages: 10_000, searches: 200 } : { pages: 100_000, searches: 1_000 };
}

/** Calls of each kind to a server of tools, and searches by each query. */
export function toolsPlanOf({ quick: isQuick }: Options): ToolsPlan {
  return isQuick ? { calls: 900, searches: 40 } : { calls: 6_000, searches: 200 };
}

/** The bars are for ten million calls. */
export function consolePlanOf({ quick: isQuick, rounds }: Options): ConsolePlan {
  return isQuick
    ? { calls: 200_000, rounds: rounds ?? 1, seconds: 8 }
    : { calls: 10_000_000, rounds: rounds ?? 3, seconds: 20 };
}

export function comparisonPlanOf(options: Options): ComparisonPlan {
  const plan = options.quick ? quickComparison : fullComparison;
  return { ...plan, rounds: options.rounds ?? plan.rounds };
}

/** Lines for the head of the report. */
export function describePlan(options: Options): string[] {
  if (options.against !== null) return [describeComparison(comparisonPlanOf(options))];
  const openLoop = openLoopPlanOf(options);
  const { rounds, oneCallerSeconds, manyCallersSeconds } = durationsOf(options);
  return [
    `Medians of ${rounds} round(s) of ${oneCallerSeconds} s with 1 caller and ` +
      `${manyCallersSeconds} s with ${manyCallers} callers; the proxies take turns`,
    "“added” is the time over the direct call's median of the same round; the direct column shows its own times",
    `Open loop: medians of ${openLoop.rounds} round(s) of ${openLoop.seconds} s after ${openLoop.warmUpSeconds} s of warm-up, ` +
      "on fresh instances; the proxies take turns",
  ];
}

function describeComparison({ rounds, warmUpTurns, turns, turnSeconds }: ComparisonPlan): string {
  return (
    `${rounds} round(s), each with fresh instances: for each case ${turns} turns of ${turnSeconds} s a side ` +
    `after ${warmUpTurns} of warm-up, the first side changing`
  );
}
