/** Ten thousand open video jobs on two nodes, and a download by a client that reads slowly. */
import { readFileSync } from "node:fs";
import { PriceBook, snapshotOf } from "../../src/pricing/index.ts";
import { openJobStore } from "../../src/jobs/index.ts";
import { openVideoStore, type StoredVideo } from "../../src/videos/index.ts";
import { type Gateway, startGateway } from "../../test/kit/gateway.ts";
import { startPostgres } from "../../test/kit/postgres.ts";
import { query } from "../../test/kit/engines.ts";

const HOUR_MS = 3_600_000;

/** A job of this age is asked about every 30 seconds. */
const AGE_MS = HOUR_MS;
const PAUSE_MS = 30_000;

/** How long an upstream takes to answer. */
const ANSWER_MS = 20;

export interface VideoFigures {
  jobs: number;
  /** How much later than due a job was asked about, in milliseconds. */
  lateness: { p50: number; p99: number; max: number };
  /** Questions about the jobs. */
  questions: number;
  /** Questions about a job while another one about it was open. */
  overlapping: number;
  download: { megabytes: number; seconds: number; memoryBefore: number; memoryMax: number };
  problem: string | null;
}

/** The time of one job's two writes, generously. */
const WRITE_MS = 3;

interface Asked {
  lateness: number[];
  questions: number;
  overlapping: number;
}

/** An upstream whose jobs never end, and whose video is as long as it is read. */
function startUpstream(bytes: number): { url: string; asked: Asked; stop: () => Promise<void> } {
  const asked: Asked = { lateness: [], questions: 0, overlapping: 0 };
  const open = new Set<string>();
  const lastAt = new Map<string, number>();
  const chunk = new Uint8Array(256 * 1024);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith("/content"))
        return new Response(videoOf(bytes, chunk), { headers: { "content-type": "video/mp4" } });
      const id = pathname.slice(pathname.lastIndexOf("/") + 1);
      const at = performance.now();
      if (open.has(id)) asked.overlapping += 1;
      open.add(id);
      asked.questions += 1;
      const before = lastAt.get(id);
      if (before !== undefined) asked.lateness.push(at - before - PAUSE_MS);
      await Bun.sleep(ANSWER_MS);
      open.delete(id);
      // The pause begins with the answer.
      lastAt.set(id, performance.now());
      return Response.json({ id, object: "video", status: "in_progress" });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) };
}

function videoOf(bytes: number, chunk: Uint8Array): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(chunk);
      left -= chunk.byteLength;
      if (left <= 0) controller.close();
    },
  });
}

/** `seconds`: how long the jobs are watched, at least two pauses. */
export async function measureVideos(
  { jobs, seconds, megabytes }: { jobs: number; seconds: number; megabytes: number },
  progress: (line: string) => void,
): Promise<VideoFigures> {
  const postgres = await startPostgres({ durable: true });
  const upstream = startUpstream(megabytes * 1_000_000);
  const storage = await postgres.createDatabase();
  const options = {
    storage,
    providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "k" } },
    config: { pricing: { models: { "openai/*": { output_video_seconds: 0.1 } } } },
  };
  const first = await startGateway(options);
  try {
    progress(`videos: ${jobs} open jobs`);
    const token = await first.token({ user: "bench", service: true });
    await addJobs(first, jobs);
    const second = await startGateway(options);
    try {
      await Bun.sleep(seconds * 1_000);
    } finally {
      await second.stop();
    }
    const { lateness, questions, overlapping } = upstream.asked;
    lateness.sort((a, b) => a - b);
    await query(first.storage, "DELETE FROM jobs");
    progress(`videos: a download of ${megabytes} MB`);
    const download = await measureDownload(first, token, megabytes);
    return {
      jobs,
      lateness: { p50: share(lateness, 0.5), p99: share(lateness, 0.99), max: share(lateness, 1) },
      questions,
      overlapping,
      download,
      problem: lateness.length < jobs ? `only ${lateness.length} pauses were seen` : null,
    };
  } finally {
    await first.stop();
    await upstream.stop();
    await postgres.stop();
  }
}

const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

/** Jobs as their creation leaves them, an hour ago, due at moments spread over a pause. */
async function addJobs({ storage }: Gateway, count: number): Promise<void> {
  const book = new PriceBook({
    operatorPrices: { "openai/*": { output_video_seconds: 0.1 } },
    unpriced: "refuse",
    clock: Date.now,
  });
  const price = book.lookup({ id: "openai/m", model: "m", priceProvider: undefined });
  if (price === undefined) throw new Error("no price");
  const [videos, jobs] = [openVideoStore(storage), openJobStore(storage)];
  // They are due once all of them are written.
  const now = Date.now() + count * WRITE_MS;
  for (let index = 0; index < count; index += 1) {
    const id = `req_bench_${index}`;
    const createdAt = now - AGE_MS;
    const video: StoredVideo = {
      id,
      videoId: `video_${index}`,
      provider: "openai",
      keyId: undefined,
      owner: "bench",
      accountId: "token:bench",
      model: "m",
      operation: "video_generation",
      sourceId: undefined,
      webhookUrl: undefined,
      requested: { seconds: 4, size: undefined },
      state: { status: "in_progress", urls: [] },
      answer: {},
      credits: undefined,
      createdAt,
      polledAt: createdAt,
      keptUntil: now + 100 * HOUR_MS,
    };
    const parked = {
      id,
      reserves: [],
      held: "0",
      principal: { user: "bench", tokenId: "t", accountId: "token:bench" },
      operation: "video_generation",
      source: { provider: "openai", model: "m", modelId: "openai/m" },
      price: snapshotOf(price),
      bound: { inputTokens: 0, outputTokens: 0, choices: 1, outputVideo: { usage: { outputVideoMs: 4_000 } } },
      streamed: false,
      at: createdAt,
    };
    const runAt = now + 5_000 + Math.floor((index / count) * PAUSE_MS);
    const payload = { parked, until: now + HOUR_MS };
    await videos.insert(video);
    await jobs.put({ id, kind: "video", owner: "bench", payload, runAt, createdAt });
  }
}

/** The size of the process while a client reads twenty megabytes a second. */
async function measureDownload(gateway: Gateway, token: string, megabytes: number): Promise<VideoFigures["download"]> {
  const memoryBefore = residentBytes(gateway.process.pid);
  let memoryMax = memoryBefore;
  const begunAt = performance.now();
  const response = await fetch(`${gateway.url}/v1/videos/video_0/content`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.body === null || response.status !== 200) throw new Error(`the download answered ${response.status}`);
  let read = 0;
  const body: ReadableStream<Uint8Array> = response.body;
  for await (const piece of body) {
    read += piece.byteLength;
    memoryMax = Math.max(memoryMax, residentBytes(gateway.process.pid));
    const aheadMs = (read / READ_BYTES_PER_SECOND) * 1_000 - (performance.now() - begunAt);
    if (aheadMs > 5) await Bun.sleep(aheadMs);
  }
  return { megabytes, seconds: (performance.now() - begunAt) / 1_000, memoryBefore, memoryMax };
}

const READ_BYTES_PER_SECOND = 20_000_000;

/** Of the whole process group's first process; the launcher replaces itself by the gateway. */
function residentBytes(pid: number): number {
  const [, kilobytes = "0"] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1_024;
}
