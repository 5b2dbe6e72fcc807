import { chat, stream } from "../cases/index.ts";
import type { CallerGroup, ClosedLoopResult } from "../load/protocol.ts";
import type { Proxy, RunningProxy, Target } from "../proxies/index.ts";
import { useOfTree } from "../system/processes.ts";
import { callersOf } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";
import { walBytesOf } from "./wal.ts";

export interface SoakResult {
  proxyId: string;
  minutes: number;
  completed: number;
  hangUps: number;
  /** Resident memory at the end of each slice, bytes. */
  residentBytes: number[];
  /** See `walBytesOf`. */
  walBytes: number;
  problem: string | null;
}

/** Short enough for a curve, and every caller comes with a new connection in each slice. */
const sliceSeconds = 10;
/** A stream then takes 0.2 s, which leaves time to disconnect in the middle. */
const burstEveryMs = 20;

/** Runs mixed callers through one proxy, some of which hang up in the middle of a stream. */
export async function soak(rig: Rig, proxy: Proxy, minutes: number): Promise<SoakResult> {
  const running = await proxy.start(rig.context);
  try {
    await rig.setPlan({ kind: "paced", gapMs: burstEveryMs });
    return await runSlices(rig, proxy.id, running, minutes);
  } finally {
    await running.stop();
  }
}

async function runSlices(rig: Rig, proxyId: string, running: RunningProxy, minutes: number): Promise<SoakResult> {
  const { target, process } = running;
  const slices: ClosedLoopResult[] = [];
  const residentBytes: number[] = [];
  const count = Math.max(5, Math.round((minutes * 60) / sliceSeconds));
  const seconds = (minutes * 60) / count;
  for (let slice = 1; slice <= count; slice += 1) {
    slices.push(await rig.run({ kind: "closed-loop", port: target.port, groups: mixedCallers(target), seconds }));
    process.assertRunning();
    residentBytes.push(useOfTree(process.pid).residentBytes);
    progress(
      `soak: ${Math.round((slice * seconds) / 6) / 10} min, ${Math.round((residentBytes.at(-1) ?? 0) / 1e6)} MB`,
    );
  }
  return { ...summarise(slices), proxyId, minutes, residentBytes, walBytes: walBytesOf(running) };
}

/**
 * Pauses keep the rate (about 1,500 calls a second) below one that would fill the disk with log and ledger in ten
 * minutes.
 */
function mixedCallers(target: Target): CallerGroup[] {
  const streams = callersOf(target, stream, 64);
  return [{ ...callersOf(target, chat, 4), pauseMs: 5 }, streams, { ...streams, hangUpAfterEvents: 35 }];
}

function summarise(slices: readonly ClosedLoopResult[]): Pick<SoakResult, "completed" | "hangUps" | "problem"> {
  const wrong = slices.flatMap((slice) => slice.problems.examples);
  const wrongCount = slices.reduce((sum, slice) => sum + slice.problems.count, 0);
  return {
    completed: slices.reduce((sum, slice) => sum + slice.completed, 0),
    hangUps: slices.reduce((sum, slice) => sum + slice.hangUps, 0),
    problem: wrongCount === 0 ? null : `${wrongCount} wrong answers, such as: ${wrong[0] ?? ""}`,
  };
}
