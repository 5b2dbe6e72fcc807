import { chat } from "../cases/index.ts";
import type { OpenLoopJob, OpenLoopResult as Answers } from "../load/protocol.ts";
import type { Proxy, RunningProxy, Target } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { directId, problemOf } from "./matrix.ts";
import { encodeRequest } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";
import { walBytesOf } from "./wal.ts";

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
  /** Share of a core; NaN without a proxy. */
  proxyShare: number;
  /** See `walBytesOf`. */
  walBytes: number;
  problem: string | null;
}

export interface OpenLoopColumn {
  proxyId: string;
  label: string;
  perSecond: number;
  rounds: OpenLoopRound[];
}

interface Subject {
  id: string;
  label: string;
  /** Null for the upstream itself. */
  proxy: Proxy | null;
}

/** Calls at constant rates, to the upstream itself and to fresh instances of the proxies in turns. */
export async function measureOpenLoop(
  rig: Rig,
  proxies: readonly Proxy[],
  plan: OpenLoopPlan,
): Promise<OpenLoopColumn[]> {
  const subjects: Subject[] = [
    { id: directId, label: "direct", proxy: null },
    ...proxies.map((proxy) => ({ id: proxy.id, label: proxy.label(), proxy })),
  ];
  const results = openLoopRates.flatMap((perSecond) =>
    subjects.map(({ id, label }): OpenLoopColumn => ({ proxyId: id, label, perSecond, rounds: [] })),
  );
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const subject of subjects) {
      progress(`open loop: round ${round} of ${plan.rounds}, ${subject.id}`);
      const own = results.filter(({ proxyId }) => proxyId === subject.id);
      await measureSubject(rig, subject, own, plan);
    }
  }
  return results;
}

async function measureSubject(
  rig: Rig,
  { proxy }: Subject,
  results: readonly OpenLoopColumn[],
  plan: OpenLoopPlan,
): Promise<void> {
  rig.placeUpstream(proxy === null ? "in the proxy's place" : "beside the load generator");
  const running = proxy === null ? null : await proxy.start(rig.context);
  try {
    const target = running?.target ?? rig.direct;
    await rig.load.ask<Answers>(jobOf(target, Math.max(...openLoopRates), plan.warmUpSeconds));
    for (const result of results) {
      const job = jobOf(target, result.perSecond, plan.seconds);
      result.rounds.push(await measureRound(rig, running, job));
    }
  } finally {
    await running?.stop();
  }
}

async function measureRound(rig: Rig, running: RunningProxy | null, job: OpenLoopJob): Promise<OpenLoopRound> {
  const cpuMs = (): number => (running === null ? Number.NaN : useOfTree(running.process.pid).cpuMs);
  const { requests: requestsBefore } = await rig.statistics();
  const before = { at: performance.now(), cpuMs: cpuMs() };
  const load = await rig.load.ask<Answers>(job);
  const proxyShare = (cpuMs() - before.cpuMs) / (performance.now() - before.at);
  const { requests } = await rig.statistics();
  return { load, proxyShare, walBytes: walBytesOf(running), problem: problemOf(load, requests - requestsBefore) };
}

function jobOf(target: Target, perSecond: number, seconds: number): OpenLoopJob {
  const { expectation } = chat;
  const request = encodeRequest(target, chat);
  const connections = { connections: 16, connectionsMax: 512 };
  return { kind: "open-loop", port: target.port, request, expectation, perSecond, seconds, ...connections };
}
