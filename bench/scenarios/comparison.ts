import type { BenchCase } from "../cases/index.ts";
import type { TurnsJob, TurnSide, TurnsResult } from "../load/protocol.ts";
import type { Proxy, RunningProxy } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { manyCallers, problemOf } from "./matrix.ts";
import { callersOf } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";

/** The two checkouts, set-ups or cases that are compared. */
type Side = "new" | "old";
export type Sides<Value> = Readonly<Record<Side, Value>>;

export interface ComparisonPlan {
  rounds: number;
  /** For each side in each case of each round. */
  turns: number;
  /** Before those, for the JIT compiler. */
  warmUpTurns: number;
  turnSeconds: number;
  /** Callers of a side at the same time; by default as many as in other measurements. */
  callers?: number;
}

/** One side's CPU in all its turns of a round. */
export interface Use {
  cpuMs: number;
  requests: number;
}

export interface ComparedCase {
  name: string;
  title: string;
  rounds: Sides<Use>[];
  problem: string | null;
}

export interface ComparisonSetting {
  rig: Rig;
  proxies: Sides<Proxy>;
  cases: readonly BenchCase[];
  /** The case of the old side, if it is another one. */
  oldCase?: BenchCase;
  plan: ComparisonPlan;
}

/**
 * Measures two checkouts in short turns. Each round starts both as fresh instances, because two instances of the same
 * program differ for their lifetime (the JIT compiler's choices, the heap's addresses), which no number of turns would
 * average out.
 */
export async function compare(setting: ComparisonSetting): Promise<ComparedCase[]> {
  const { rig, cases, oldCase, plan } = setting;
  const results = cases.map(({ name, title }): ComparedCase => ({ name, title, rounds: [], problem: null }));
  rig.placeUpstream("beside the load generator");
  for (let round = 1; round <= plan.rounds; round += 1) {
    const running = await startBoth(setting, round);
    try {
      for (const [index, benchCase] of cases.entries()) {
        progress(`round ${round} of ${plan.rounds}: ${benchCase.name}`);
        const asked = { new: benchCase, old: oldCase ?? benchCase };
        const measured = await measureCase({ rig, running, asked, plan, round });
        const result = results[index];
        result?.rounds.push(measured.use);
        if (result !== undefined) result.problem ??= measured.problem;
      }
    } finally {
      await Promise.all([running.new.stop(), running.old.stop()]);
    }
  }
  return results;
}

/** One side begins in the odd rounds, with its start and with its turns, the other in the even ones. */
async function startBoth({ rig, proxies }: ComparisonSetting, round: number): Promise<Sides<RunningProxy>> {
  const start = (side: Side): Promise<RunningProxy> => proxies[side].start(rig.context);
  if (newBegins(round)) return { new: await start("new"), old: await start("old") };
  return { old: await start("old"), new: await start("new") };
}

function newBegins(round: number): boolean {
  return round % 2 === 0;
}

interface CaseSetting {
  rig: Rig;
  running: Sides<RunningProxy>;
  asked: Sides<BenchCase>;
  plan: ComparisonPlan;
  round: number;
}

/** Waits for the work after the last answers (settling, log), so that it is counted. */
const settleMs = 100;

/**
 * CPU is read once before and once after all turns: the kernel counts it in steps of 10 ms, and a side's work during
 * the other's turn (garbage collection, commits) is its own cost.
 */
async function measureCase(setting: CaseSetting): Promise<{ use: Sides<Use>; problem: string | null }> {
  const { running, plan } = setting;
  const warmUp = await takeTurns(setting, plan.warmUpTurns);
  const before = cpuMsOf(running);
  const { completed, problem } = await takeTurns(setting, plan.turns);
  await Bun.sleep(settleMs);
  const after = cpuMsOf(running);
  const useOf = (side: Side): Use => ({ cpuMs: after[side] - before[side], requests: completed[side] });
  return { use: { new: useOf("new"), old: useOf("old") }, problem: warmUp.problem ?? problem };
}

function cpuMs({ process }: RunningProxy): number {
  process.assertRunning();
  return useOfTree(process.pid).cpuMs;
}

function cpuMsOf(running: Sides<RunningProxy>): Sides<number> {
  return { new: cpuMs(running.new), old: cpuMs(running.old) };
}

interface Turns {
  completed: Sides<number>;
  problem: string | null;
}

async function takeTurns({ rig, running, asked, plan, round }: CaseSetting, turns: number): Promise<Turns> {
  const sideOf = (side: Side): TurnSide => {
    const { target } = running[side];
    return { port: target.port, group: callersOf(target, asked[side], plan.callers ?? manyCallers) };
  };
  const job: TurnsJob = {
    kind: "turns",
    sides: [sideOf("new"), sideOf("old")],
    first: newBegins(round) ? 0 : 1,
    turns,
    turnSeconds: plan.turnSeconds,
  };
  const before = await rig.statistics();
  const [newer, older] = await rig.load.ask<[TurnsResult, TurnsResult]>(job);
  const requests = (await rig.statistics()).requests - before.requests;
  return {
    completed: { new: newer.completed, old: older.completed },
    problem:
      problemOfSide("new", newer, requests - older.completed) ??
      problemOfSide("old", older, requests - newer.completed),
  };
}

function problemOfSide(side: Side, result: TurnsResult, requests: number): string | null {
  const problem = problemOf(result, requests);
  return problem === null ? null : `${side}: ${problem}`;
}
