import { statSync } from "node:fs";
import { chat } from "../cases/index.ts";
import type { OpenLoopJob, OpenLoopResult as Answers } from "../load/protocol.ts";
import type { Proxy, RunningProxy } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { problemOf } from "./matrix.ts";
import { encodeRequest } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";

export interface OpenLoopPlan {
  rounds: number;
  warmUpSeconds: number;
  seconds: number;
}

/** Requests a second. */
const openLoopRates = [500, 2_000] as const;

/** One round of one proxy at one rate. */
export interface OpenLoopRound {
  load: Answers;
  /** Share of a core. */
  proxyShare: number;
  /** The size of SQLite's write-ahead log, whose file does not shrink: the most it has been since the start. */
  walBytes: number;
  problem: string | null;
}

export interface OpenLoopResult {
  proxyId: string;
  label: string;
  perSecond: number;
  rounds: OpenLoopRound[];
}

/** Calls at constant rates; the proxies take turns, all on fresh instances that run throughout. */
export async function measureOpenLoop(
  rig: Rig,
  proxies: readonly Proxy[],
  plan: OpenLoopPlan,
): Promise<OpenLoopResult[]> {
  const results = openLoopRates.flatMap((perSecond) =>
    proxies.map((proxy): OpenLoopResult => ({ proxyId: proxy.id, label: proxy.label(), perSecond, rounds: [] })),
  );
  rig.placeUpstream("beside the load generator");
  const running = new Map<string, RunningProxy>();
  try {
    for (const proxy of proxies) {
      const started = await proxy.start(rig.context);
      running.set(proxy.id, started);
      progress(`open loop: warm-up of ${proxy.id}`);
      await rig.load.ask<Answers>(jobOf(started, Math.max(...openLoopRates), plan.warmUpSeconds));
    }
    for (let round = 1; round <= plan.rounds; round += 1) {
      progress(`open loop: round ${round} of ${plan.rounds}`);
      for (const result of results) {
        const proxy = running.get(result.proxyId);
        if (proxy !== undefined) result.rounds.push(await measureRound(rig, proxy, result.perSecond, plan.seconds));
      }
    }
  } finally {
    await Promise.all([...running.values()].map((proxy) => proxy.stop()));
  }
  return results;
}

async function measureRound(rig: Rig, proxy: RunningProxy, perSecond: number, seconds: number): Promise<OpenLoopRound> {
  const before = { at: performance.now(), cpuMs: useOfTree(proxy.process.pid).cpuMs, ...(await rig.statistics()) };
  const load = await rig.load.ask<Answers>(jobOf(proxy, perSecond, seconds));
  const { requests } = await rig.statistics();
  return {
    load,
    proxyShare: (useOfTree(proxy.process.pid).cpuMs - before.cpuMs) / (performance.now() - before.at),
    walBytes: walBytesOf(proxy),
    problem: problemOf(load, requests - before.requests),
  };
}

function jobOf(proxy: RunningProxy, perSecond: number, seconds: number): OpenLoopJob {
  const request = encodeRequest(proxy.target, chat);
  const { port } = proxy.target;
  const { expectation } = chat;
  return { kind: "open-loop", port, request, expectation, perSecond, seconds, connections: 16, connectionsMax: 512 };
}

function walBytesOf({ stateFile }: RunningProxy): number {
  if (stateFile === null) return Number.NaN;
  return statSync(`${stateFile}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
