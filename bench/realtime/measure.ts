/** Many realtime sessions, with bursts of messages at fixed times, through each proxy. */
import { join } from "node:path";
import { type Proxy, type RunningProxy, type Target, upstreamModels } from "../proxies/index.ts";
import { progress, type Rig } from "../scenarios/rig.ts";
import { Helper } from "../system/helper.ts";
import { moveToCores, onCores } from "../system/pinning.ts";
import { useOfTree } from "../system/processes.ts";
import { median } from "../report/median.ts";
import type { ComparedCase, Sides, Use } from "../scenarios/comparison.ts";
import {
  type ClientCommand,
  type Measured,
  type Opened,
  type SendResult,
  sessions,
  type RealtimeUpstreamReady,
} from "./protocol.ts";

export interface RealtimePlan {
  rounds: number;
  warmUpSeconds: number;
  seconds: number;
}

/** Medians over the rounds; times in milliseconds. */
export interface RealtimeColumn {
  proxyId: string;
  /** Of the direct column the times themselves, of the others what they add to its medians. */
  p50: number;
  p99: number;
  p999: number;
  cpuMicroseconds: number;
  /** The least under load, which is what a collection leaves, and the most. */
  bytesPerSession: number;
  mostBytesPerSession: number;
  problem: string | null;
}

interface Round {
  measured: Measured;
  cpuMs: number;
  /** Those of the upstream and of the clients. */
  messages: number;
  bytesPerSession: number;
  mostBytesPerSession: number;
}

/** The interval at which the memory is read. */
const MEMORY_MS = 500;

export const directId = "direct";

export async function measureRealtime(
  rig: Rig,
  proxies: readonly Proxy[],
  plan: RealtimePlan,
): Promise<RealtimeColumn[]> {
  return columnsOf(await measureRounds(rig, proxies, plan, true));
}

/**
 * The CPU of two checkouts. A session cannot change its gateway, so they do not take short turns as with calls: each round has
 * fresh instances, under load one after the other.
 */
export async function compareRealtime(rig: Rig, sides: Sides<Proxy>, plan: RealtimePlan): Promise<ComparedCase> {
  const rounds = await measureRounds(rig, [sides.new, sides.old], plan, false);
  const [newer, older] = [rounds.get(sides.new.id) ?? [], rounds.get(sides.old.id) ?? []];
  return {
    name: "a realtime message",
    title: "Realtime sessions, a message",
    rounds: newer.flatMap((round, index) => {
      const other = older[index];
      return other === undefined ? [] : [{ new: useOf(round), old: useOf(other) }];
    }),
    problem: [...newer, ...older].map(({ measured }) => measured.problem).find((one) => one !== null) ?? null,
  };
}

function useOf({ cpuMs, messages }: Round): Use {
  return { cpuMs, requests: messages };
}

/** By the proxies' ids. The one that begins changes from round to round. */
async function measureRounds(
  rig: Rig,
  proxies: readonly Proxy[],
  plan: RealtimePlan,
  hasDirect: boolean,
): Promise<ReadonlyMap<string, readonly Round[]>> {
  const { children, pinning } = rig.context;
  const start = (file: string): Helper => {
    const command = [process.execPath, join(import.meta.dirname, file)];
    return new Helper(children.startHelper(onCores(pinning.otherCores, command)));
  };
  const upstream = start("upstream.ts");
  const clients = start("clients.ts");
  const { port } = await upstream.next<RealtimeUpstreamReady>();
  await clients.next();
  const context = { ...rig.context, upstreamPort: port };
  const place = (isDirect: boolean): void => {
    if (pinning.proxyCore !== null) moveToCores(upstream.pid, isDirect ? [pinning.proxyCore] : pinning.otherCores);
  };
  const rounds = new Map<string, Round[]>();
  const add = (id: string, round: Round): void => void rounds.set(id, [...(rounds.get(id) ?? []), round]);
  try {
    for (let round = 1; round <= plan.rounds; round += 1) {
      progress(`realtime: round ${round} of ${plan.rounds}`);
      const direct: Target = { port, models: upstreamModels, headers: {} };
      place(hasDirect);
      if (hasDirect) add(directId, await measureOne({ upstream, clients, target: direct, pid: null, plan }));
      place(false);
      for (const proxy of round % 2 === 0 ? proxies.toReversed() : proxies) {
        const running: RunningProxy = await proxy.start(context);
        try {
          add(
            proxy.id,
            await measureOne({ upstream, clients, target: running.target, pid: running.process.pid, plan }),
          );
        } finally {
          await running.stop();
        }
      }
    }
  } finally {
    await Promise.all([upstream.stop(), clients.stop()]);
  }
  return rounds;
}

interface Setting {
  upstream: Helper;
  clients: Helper;
  target: Target;
  pid: number | null;
  plan: RealtimePlan;
}

async function measureOne({ upstream, clients, target, pid, plan }: Setting): Promise<Round> {
  const use = () => (pid === null ? { cpuMs: 0, residentBytes: 0 } : useOfTree(pid));
  const idle = use().residentBytes;
  const open: ClientCommand = { kind: "open", port: target.port, model: target.models.chat, headers: target.headers };
  const opened = await clients.ask<Opened>(open);
  if (opened.problem !== null) throw new Error(`realtime: ${opened.problem}`);
  const run = async (seconds: number): Promise<[Measured, SendResult]> => {
    await clients.ask({ kind: "begin" });
    const measured = clients.ask<Measured>({ kind: "measure" });
    const sent = await upstream.ask<SendResult>({ seconds });
    return [await measured, sent];
  };
  await run(plan.warmUpSeconds);
  const before = use();
  const memory = [before.residentBytes];
  const timer = setInterval(() => void memory.push(use().residentBytes), MEMORY_MS);
  const [measured, sent] = await run(plan.seconds);
  clearInterval(timer);
  const after = use();
  memory.push(after.residentBytes);
  const problem =
    measured.problem ??
    (measured.messages === sent.sent ? null : `${sent.sent - measured.messages} messages are missing`);
  await clients.ask({ kind: "close" });
  return {
    measured: { ...measured, problem },
    cpuMs: after.cpuMs - before.cpuMs,
    messages: sent.sent + sent.received,
    bytesPerSession: (Math.min(...memory) - idle) / sessions,
    mostBytesPerSession: (Math.max(...memory) - idle) / sessions,
  };
}

function columnsOf(rounds: ReadonlyMap<string, readonly Round[]>): RealtimeColumn[] {
  const direct = rounds.get(directId) ?? [];
  const base = {
    p50: median(direct.map(({ measured }) => measured.p50)),
    p99: median(direct.map(({ measured }) => measured.p99)),
    p999: median(direct.map(({ measured }) => measured.p999)),
  };
  return [...rounds].map(([proxyId, own]) => {
    const of = (read: (round: Round) => number): number => median(own.map(read));
    const isDirect = proxyId === directId;
    return {
      proxyId,
      p50: of(({ measured }) => measured.p50) - (isDirect ? 0 : base.p50),
      p99: of(({ measured }) => measured.p99) - (isDirect ? 0 : base.p99),
      p999: of(({ measured }) => measured.p999) - (isDirect ? 0 : base.p999),
      cpuMicroseconds: of(({ cpuMs, messages }) => (cpuMs * 1_000) / messages),
      bytesPerSession: of((round) => round.bytesPerSession),
      mostBytesPerSession: of((round) => round.mostBytesPerSession),
      problem: own.map(({ measured }) => measured.problem).find((one) => one !== null) ?? null,
    };
  });
}
