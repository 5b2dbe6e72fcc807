import { stream } from "../cases/index.ts";
import type { FinishResult, HoldOpenJob, HoldOpenResult, Spread } from "../load/protocol.ts";
import type { Proxy, RunningProxy } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { encodeRequest } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";

export const openStreamCount = 3_000;

export interface OpenStreamsResult {
  proxyId: string;
  streams: number;
  /** Before the first stream, at the most while all were open, and after their ends. */
  idleBytes: number;
  openBytes: number;
  endedBytes: number;
  /** Milliseconds. */
  firstEvent: Spread | null;
  /** The proxy's CPU for each relayed event while all streams are open, µs. */
  cpuMicrosecondsAnEvent: number;
  problem: string | null;
}

const eventEveryMs = 1_000;
const watchSeconds = 6;

/** Opens 3,000 streams through a fresh instance of each proxy, one event a second on each, and reads its memory. */
export async function measureOpenStreams(rig: Rig, proxies: readonly Proxy[]): Promise<OpenStreamsResult[]> {
  const results: OpenStreamsResult[] = [];
  rig.placeUpstream("beside the load generator");
  for (const proxy of proxies) {
    progress(`open streams: ${proxy.id}`);
    const running = await proxy.start(rig.context);
    try {
      results.push(await holdStreams(rig, proxy.id, running));
    } finally {
      await rig.setPlan({ kind: "burst" });
      await running.stop();
    }
  }
  return results;
}

async function holdStreams(rig: Rig, proxyId: string, running: RunningProxy): Promise<OpenStreamsResult> {
  const { pid } = running.process;
  const idleBytes = useOfTree(pid).residentBytes;
  await rig.setPlan({ kind: "hold", gapMs: eventEveryMs });
  const opened = await rig.load.ask<HoldOpenResult>(jobOf(running));
  const before = useOfTree(pid);
  const openBytes = await watchMemory(pid);
  const cpuMs = useOfTree(pid).cpuMs - before.cpuMs;
  await rig.setPlan({ kind: "burst" });
  const finished = await rig.load.ask<FinishResult>({ kind: "finish" });
  const events = opened.opened * ((watchSeconds * 1000) / eventEveryMs);
  return {
    proxyId,
    streams: opened.opened,
    idleBytes,
    openBytes: Math.max(before.residentBytes, openBytes),
    endedBytes: useOfTree(pid).residentBytes,
    firstEvent: opened.firstEvent,
    cpuMicrosecondsAnEvent: (cpuMs * 1000) / Math.max(1, events),
    problem: problemOf(finished),
  };
}

function jobOf(running: RunningProxy): HoldOpenJob {
  return {
    kind: "hold-open",
    port: running.target.port,
    streams: openStreamCount,
    request: encodeRequest(running.target, stream),
    expectation: { kind: "open-stream" },
  };
}

async function watchMemory(pid: number): Promise<number> {
  let most = 0;
  for (let half = 0; half < watchSeconds * 2; half += 1) {
    await Bun.sleep(500);
    most = Math.max(most, useOfTree(pid).residentBytes);
  }
  return most;
}

function problemOf(finished: FinishResult): string | null {
  const { count, examples } = finished.problems;
  if (count > 0) return `${count} wrong streams, such as: ${examples[0] ?? ""}`;
  const missing = openStreamCount - finished.completed;
  return missing === 0 ? null : `${missing} streams did not come to their end`;
}
