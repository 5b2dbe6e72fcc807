import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { makeSound, soundBytes, uploadExpectation, uploadForm, uploadPath } from "../cases/upload.ts";
import type { WaveJob, WaveResult } from "../load/protocol.ts";
import type { Proxy, RunningProxy } from "../proxies/index.ts";
import { openFilesWithin, peakBytesOfTree, resetPeak, useOfTree } from "../system/processes.ts";
import { requestOf } from "./request.ts";
import { progress } from "./rig.ts";
import type { Rig } from "./rig.ts";

export const uploadCount = 50;

export interface UploadsResult {
  proxyId: string;
  /** Before the first wave. */
  idleBytes: number;
  waves: UploadWave[];
  problem: string | null;
}

/** Fifty uploads at once. */
export interface UploadWave {
  wallMs: number;
  /** The proxy's, for each upload. */
  cpuMs: number;
  megabytesASecond: number;
  /** The maximum during the wave, and the memory a moment after it. */
  peakBytes: number;
  endedBytes: number;
}

/** Sends waves of uploads through a fresh instance of each proxy and reads its memory: a leak grows from wave to wave. */
export async function measureUploads(rig: Rig, proxies: readonly Proxy[], waves: number): Promise<UploadsResult[]> {
  const results: UploadsResult[] = [];
  const sound = makeSound();
  await rig.expectFile({ bytes: sound.length, checksum: crc32(sound) });
  rig.placeUpstream("beside the load generator");
  for (const proxy of proxies) {
    progress(`uploads: ${proxy.id}`);
    const running = await proxy.start(rig.context);
    try {
      results.push({ proxyId: proxy.id, ...(await sendWaves(rig, running, sound, waves)) });
    } finally {
      await running.stop();
    }
  }
  return results;
}

async function sendWaves(
  rig: Rig,
  running: RunningProxy,
  sound: Buffer,
  waves: number,
): Promise<Omit<UploadsResult, "proxyId">> {
  const { target, process } = running;
  const result: Omit<UploadsResult, "proxyId"> = {
    idleBytes: useOfTree(process.pid).residentBytes,
    waves: [],
    problem: null,
  };
  const requestFile = join(rig.context.children.directory, "upload");
  const form = uploadForm(target.models.transcription, sound);
  writeFileSync(requestFile, requestOf(target, { path: uploadPath, ...form }));
  const { port } = target;
  const job: WaveJob = { kind: "wave", port, callers: uploadCount, requestFile, expectation: uploadExpectation };
  while (result.waves.length < waves && result.problem === null) {
    const { wave, problem } = await sendWave(rig, running, job);
    result.waves.push(wave);
    result.problem = problem;
  }
  return result;
}

/** Waits for the work after the answers (settling, closing files). */
const settleMs = 500;

async function sendWave(
  rig: Rig,
  running: RunningProxy,
  job: WaveJob,
): Promise<{ wave: UploadWave; problem: string | null }> {
  const { pid } = running.process;
  resetPeak(pid);
  const { requests } = await rig.statistics();
  const { cpuMs } = useOfTree(pid);
  const sent = await rig.load.ask<WaveResult>(job);
  await Bun.sleep(settleMs);
  running.process.assertRunning();
  const after = useOfTree(pid);
  const wave: UploadWave = {
    wallMs: sent.wallMs,
    cpuMs: (after.cpuMs - cpuMs) / uploadCount,
    megabytesASecond: (uploadCount * soundBytes) / 1e3 / sent.wallMs,
    peakBytes: peakBytesOfTree(pid),
    endedBytes: after.residentBytes,
  };
  const asked = (await rig.statistics()).requests - requests;
  return { wave, problem: problemOf(sent, asked) ?? leftOf(running) };
}

function problemOf({ problems, completed }: WaveResult, asked: number): string | null {
  const { count, examples } = problems;
  if (count > 0) return `${count} wrong answers, such as: ${examples[0] ?? ""}`;
  return asked === completed ? null : `the upstream was asked ${asked} times for ${completed} answers`;
}

/** Bytes of an upload that are on the disk after its end: under a name, or in a file that was deleted and is open. */
function leftOf({ process, spoolFolder }: RunningProxy): string | null {
  if (spoolFolder === null) return null;
  const left = readdirSync(spoolFolder).length + openFilesWithin(process.pid, spoolFolder);
  return left === 0 ? null : `${left} temporary files left`;
}
