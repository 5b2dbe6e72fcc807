/**
 * Calls with several targets: what routes cost the calls without them, a first target that refuses, a stream that is held until its
 * content, and a primary that works every other second.
 */
import { chat, stream } from "../cases/index.ts";
import type { BenchCase } from "../cases/index.ts";
import type { ClosedLoopResult, OpenLoopJob, OpenLoopResult } from "../load/protocol.ts";
import type { Proxy, RunningProxy, Target } from "../proxies/index.ts";
import { compare, type ComparedCase, type ComparisonPlan } from "../scenarios/comparison.ts";
import { problemOf } from "../scenarios/matrix.ts";
import { callersOf, encodeRequest } from "../scenarios/request.ts";
import { progress } from "../scenarios/rig.ts";
import type { Rig } from "../scenarios/rig.ts";
import { useOfTree } from "../system/processes.ts";

export interface RoutesPlan {
  comparison: ComparisonPlan;
  rounds: number;
  warmUpSeconds: number;
  /** Of one caller, for each name in each round. */
  seconds: number;
  /** Of the calls at fixed times, for each name. */
  openSeconds: number;
}

/** Tollgate without routes, with them, and with them but without circuits, so that a target that fails is asked each time. */
export interface RoutesProxies {
  plain: Proxy;
  routed: Proxy;
  withoutCircuits: Proxy;
}

/** Medians and tails of one caller, in milliseconds. */
interface OneCaller {
  p50: number;
  firstEventP50: number;
  firstEventP99: number;
}

/** One round, by the name that the caller writes: chat, and the streams of a route (`held`) and of a model without one (`passed`). */
export type RoutesRound = Readonly<Record<"alone" | "busy" | "unreachable" | "held" | "passed", OneCaller>>;

interface OpenLoopFigures {
  p50: number;
  p99: number;
}

export interface RoutesFigures {
  /** Calls of a model without a route, at a gateway with routes over one without. */
  comparison: ComparedCase[];
  rounds: RoutesRound[];
  healthy: OpenLoopFigures;
  flapping: OpenLoopFigures;
  /** Resident memory during the calls to the flapping primary, in bytes: in its second fifth, and in its last. */
  startBytes: number;
  endBytes: number;
  problem: string | null;
}

/** Calls a second, at fixed times. */
export const flappingRate = 1_000;

const memoryGapMs = 250;

export async function measureRoutes(
  rig: Rig,
  { plain, routed, withoutCircuits }: RoutesProxies,
  plan: RoutesPlan,
): Promise<RoutesFigures> {
  const sides = { old: plain, new: routed };
  const comparison = await compare({ rig, proxies: sides, cases: [chat], plan: plan.comparison });
  const callers = await withProxy(rig, withoutCircuits, (running) => measureCallers(rig, running, plan));
  const open = await withProxy(rig, routed, (running) => measureFlapping(rig, running, plan));
  const problem = comparison[0]?.problem ?? callers.problem ?? open.problem;
  return { comparison, ...open, rounds: callers.rounds, problem };
}

async function withProxy<T>(rig: Rig, proxy: Proxy, measure: (running: RunningProxy) => Promise<T>): Promise<T> {
  const running = await proxy.start(rig.context);
  try {
    return await measure(running);
  } finally {
    await running.stop();
  }
}

const callTo = (target: Target, name: string): Target => ({ ...target, models: { ...target.models, chat: name } });

async function measureCallers(rig: Rig, { target }: RunningProxy, plan: RoutesPlan) {
  rig.placeUpstream("beside the load generator");
  const rounds: RoutesRound[] = [];
  let problem: string | null = null;
  const one = async (name: string, call: BenchCase, seconds: number): Promise<OneCaller> => {
    const to = callTo(target, name);
    const before = await rig.statistics();
    const load: ClosedLoopResult = await rig.run({
      kind: "closed-loop",
      port: to.port,
      groups: [callersOf(to, call, 1)],
      seconds,
    });
    problem ??= problemOf(load, (await rig.statistics()).requests - before.requests);
    const { p50, p99 } = load.firstEvent ?? { p50: Number.NaN, p99: Number.NaN };
    return { p50: load.latency.p50, firstEventP50: p50, firstEventP99: p99 };
  };
  const names = { alone: "openai/bench-model", busy: "busy", unreachable: "unreachable", held: "held" };
  for (const name of Object.values(names)) {
    await one(name, name === "held" ? stream : chat, plan.warmUpSeconds);
  }
  await one(names.alone, stream, plan.warmUpSeconds);
  for (let round = 1; round <= plan.rounds; round += 1) {
    progress(`routes: round ${round} of ${plan.rounds}, one caller`);
    rounds.push({
      passed: await one(names.alone, stream, plan.seconds),
      held: await one(names.held, stream, plan.seconds),
      alone: await one(names.alone, chat, plan.seconds),
      busy: await one(names.busy, chat, plan.seconds),
      unreachable: await one(names.unreachable, chat, plan.seconds),
    });
  }
  return { rounds, problem };
}

async function measureFlapping(rig: Rig, running: RunningProxy, plan: RoutesPlan) {
  rig.placeUpstream("beside the load generator");
  const { target, process } = running;
  let problem: string | null = null;
  const open = async (name: string, seconds: number): Promise<OpenLoopFigures> => {
    const before = await rig.statistics();
    const load = await rig.load.ask<OpenLoopResult>(jobOf(callTo(target, name), seconds));
    problem ??= problemOf(load, (await rig.statistics()).requests - before.requests);
    return { p50: load.latency.p50, p99: load.latency.p99 };
  };
  progress("routes: calls at fixed times");
  await open("openai/bench-model", plan.warmUpSeconds);
  await open("flapping", plan.warmUpSeconds);
  const healthy = await open("openai/bench-model", plan.openSeconds);
  const resident: number[] = [];
  const watch = setInterval(() => resident.push(useOfTree(process.pid).residentBytes), memoryGapMs);
  try {
    const flapping = await open("flapping", plan.openSeconds);
    return { healthy, flapping, ...memoryOf(resident), problem };
  } finally {
    clearInterval(watch);
  }
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The means of the second fifth and of the last. */
function memoryOf(resident: readonly number[]): Pick<RoutesFigures, "startBytes" | "endBytes"> {
  const fifth = Math.max(1, Math.floor(resident.length / 5));
  return { startBytes: mean(resident.slice(fifth, 2 * fifth)), endBytes: mean(resident.slice(-fifth)) };
}

function jobOf(target: Target, seconds: number): OpenLoopJob {
  const request = encodeRequest(target, chat);
  const connections = { connections: 16, connectionsMax: 512 };
  const { expectation } = chat;
  return {
    kind: "open-loop",
    port: target.port,
    request,
    expectation,
    perSecond: flappingRate,
    seconds,
    ...connections,
  };
}
