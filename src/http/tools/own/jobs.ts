/** Crawls and videos: work that outlives the call which begins it. A client that knows tasks follows it as one; any other waits a while, and asks `job_get`. */
import { GatewayError, type JsonObject, objectsOf, parseObject, stringOf } from "../../../core/index.ts";
import type { ToolAnswer, ToolResult, ToolTask } from "../../../mcp/index.ts";
import { cleanObject } from "../../../tools/index.ts";
import { headersOf, jsonOf, refusalOf } from "./ask-route.ts";
import { textOfPage } from "./page-text.ts";
import type { OwnCall } from "./own-tool.ts";

/** How long a call waits for its job: clients give up after a minute by default. */
const WAIT_MS_MAX = 45_000;

/** Between two looks at a job that a call waits for. */
const LOOK_MS = 1_000;

/** The suggested wait of a client that follows a task. */
const POLL_MS = { crawl: 2_000, video: 5_000 } as const;

/** Pages in one result of a crawl. */
const PAGES = 25;
const PAGES_MAX = 1_000;

export interface JobName {
  kind: "crawl" | "video";
  /** The route's id of it. */
  id: string;
}

/** Who looks at a job. */
type Looker = Pick<OwnCall, "principal" | "services">;

/** The results of a crawl that are wanted. */
interface JobPage {
  skip: number;
  limit: number;
}

const firstPage: JobPage = { skip: 0, limit: PAGES };

/** A job as a task, with its share of all pages if that is known. */
interface SeenJob {
  task: ToolTask;
  progress: { progress: number; total?: number; message?: string };
}

/** The id of a job for clients: of its task, and for `job_get`. */
function taskIdOf({ kind, id }: JobName): string {
  return `${kind}:${id}`;
}

/** Undefined for any other text. */
function readTaskId(taskId: string): JobName | undefined {
  const [, kind, id] = /^(crawl|video):(.{1,512})$/s.exec(taskId) ?? [];
  return id === undefined ? undefined : { kind: kind === "crawl" ? "crawl" : "video", id };
}

/** Answers the call whose route has begun a job, or has refused it. */
export async function answerBegun(call: OwnCall, kind: JobName["kind"], response: Response): Promise<ToolAnswer> {
  const refused = await refusalOf(response);
  if (refused !== undefined) return refused;
  const { id } = await jsonOf(response);
  return answerJob(call, { kind, id: stringOf(id) }, headersOf(response));
}

/** Answers the call that has begun a job: with the task, or with its state after a while. */
export async function answerJob(
  call: OwnCall,
  job: JobName,
  headers: Readonly<Record<string, string>>,
): Promise<ToolAnswer> {
  // A client that closes the request ends the job, also while it is being begun. Pages that have been read are charged.
  const onGone = (): void => void cancelJob(call, job).catch(() => undefined);
  if (call.signal.aborted) onGone();
  if (call.takesTasks) {
    const seen = await lookAt(call, job, firstPage);
    if (seen === undefined) throw noJob();
    return { result: { task: seen.task } };
  }
  call.signal.addEventListener("abort", onGone);
  try {
    return { result: await resultSoon(call, job, { waitMs: WAIT_MS_MAX, page: firstPage }), headers };
  } finally {
    call.signal.removeEventListener("abort", onGone);
  }
}

/** The state of a job, once it has ended or the wait is over. */
async function resultSoon(
  call: OwnCall,
  job: JobName,
  { waitMs, page }: { waitMs: number; page: JobPage },
): Promise<ToolResult> {
  const { mcp, clock } = call.services;
  const until = clock() + waitMs;
  for (;;) {
    const seen = await lookAt(call, job, page);
    if (seen === undefined) throw noJob();
    if (seen.task.result !== undefined) return seen.task.result;
    call.onProgress?.(seen.progress);
    if (call.signal.aborted || clock() >= until) return stillRunning(job, seen);
    await new Promise<void>((resolve) => mcp.ticker.after(LOOK_MS, resolve));
  }
}

function stillRunning(job: JobName, { task: { status, statusMessage }, progress }: SeenJob): ToolResult {
  const id = taskIdOf(job);
  const text = `${statusMessage ?? "It is still running."} Call job_get with id ${JSON.stringify(id)} for the result.`;
  return { content: [{ type: "text", text }], structuredContent: { id, status, ...progress } };
}

function noJob(): GatewayError {
  return new GatewayError("object_not_found", "There is no such job of yours.");
}

/** `job_get` */
export function getJob(call: OwnCall): Promise<ToolAnswer> {
  const { id, wait_seconds: seconds = 0, skip = 0, limit = PAGES } = call.arguments;
  const job = typeof id === "string" ? readTaskId(id) : undefined;
  if (job === undefined) throw noJob();
  const waitMs = Math.min(wholeOf(seconds, "wait_seconds") * 1_000, WAIT_MS_MAX);
  const page = { skip: wholeOf(skip, "skip"), limit: Math.min(Math.max(wholeOf(limit, "limit"), 1), PAGES_MAX) };
  return resultSoon(call, job, { waitMs, page }).then((result) => ({ result }));
}

function wholeOf(value: unknown, param: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= 1_000_000) return value;
  throw new GatewayError("validation_failed", `${param}: must be a whole number from 0 to 1000000.`, { param });
}

/** The job as a task; undefined if the caller has no such job. */
export async function taskOf(looker: Looker, taskId: string): Promise<ToolTask | undefined> {
  const job = readTaskId(taskId);
  return job === undefined ? undefined : (await lookAt(looker, job, firstPage))?.task;
}

async function lookAt(looker: Looker, job: JobName, page: JobPage): Promise<SeenJob | undefined> {
  try {
    return job.kind === "crawl" ? await lookAtCrawl(looker, job, page) : await lookAtVideo(looker, job);
  } catch (thrown) {
    if (thrown instanceof GatewayError && thrown.status === 404) return undefined;
    throw thrown;
  }
}

async function lookAtCrawl({ principal, services }: Looker, job: JobName, page: JobPage): Promise<SeenJob> {
  const { crawls, clock } = services;
  const read = (limit: number) =>
    crawls.status({ principal, kind: "crawl", version: "v2", id: job.id }, { skip: page.skip, limit });
  const summary = parseObject(await read(1)) ?? {};
  const { status, createdAt, expiresAt, completed, total, completedAt, error } = summary;
  const isRunning = status === "scraping";
  const progress = {
    progress: Number(completed),
    total: Number(total),
    message: `${Number(completed)} of ${Number(total)} pages`,
  };
  const task: ToolTask = {
    taskId: taskIdOf(job),
    status: isRunning ? "working" : status === "cancelled" ? "cancelled" : "completed",
    statusMessage: stringOf(error) || progress.message,
    createdAt: stringOf(createdAt),
    lastUpdatedAt: stringOf(completedAt) || new Date(clock()).toISOString(),
    ttlMs: Date.parse(stringOf(expiresAt)) - Date.parse(stringOf(createdAt)),
    pollIntervalMs: POLL_MS.crawl,
  };
  if (isRunning) return { task, progress };
  const { next, ...whole } = cleanObject(parseObject(await read(page.limit)) ?? {}, []);
  return { task: { ...task, result: crawlResult(job, whole, { ...page, hasMore: next != null }) }, progress };
}

function crawlResult(
  job: JobName,
  crawl: JsonObject,
  { skip, hasMore }: { skip: number; hasMore: boolean },
): ToolResult {
  const pages = objectsOf(crawl["data"]);
  const id = taskIdOf(job);
  const read = skip + pages.length;
  const more = hasMore ? `\n\nFor further pages call job_get with id ${JSON.stringify(id)} and skip ${read}.` : "";
  const head = `${stringOf(crawl["status"])}: ${String(crawl["completed"])} pages. ${stringOf(crawl["error"])}`.trim();
  return {
    content: [{ type: "text", text: `${head}\n\n${pages.map(textOfPage).join("\n\n")}${more}` }],
    structuredContent: { ...crawl, id, ...(hasMore && { next_skip: read }) },
    ...(crawl["status"] === "failed" && { isError: true }),
  };
}

/** The request of a look at a video, whose client nobody is. */
const lookRequest = (): Request => new Request("http://gateway/v1/videos");

async function lookAtVideo({ principal, services }: Looker, job: JobName): Promise<SeenJob> {
  const { videos, clock } = services;
  const lookup = { principal, request: lookRequest(), videoId: job.id, provider: undefined };
  const video = parseObject(await (await videos.get(lookup)).text()) ?? {};
  const { status, progress: percent, created_at: created, completed_at: completed, expires_at: expires } = video;
  const createdAt = Number(created) * 1_000;
  const progress = { progress: Number(percent), total: 100, message: stringOf(status) };
  const isEnded = status === "completed" || status === "failed";
  const task: ToolTask = {
    taskId: taskIdOf(job),
    status: isEnded ? "completed" : "working",
    statusMessage: stringOf(status),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(typeof completed === "number" ? completed * 1_000 : clock()).toISOString(),
    ttlMs: typeof expires === "number" ? expires * 1_000 - createdAt : null,
    pollIntervalMs: POLL_MS.video,
  };
  return { task: isEnded ? { ...task, result: videoResult(video) } : task, progress };
}

function videoResult(video: JsonObject): ToolResult {
  if (video["status"] === "failed") {
    const message = parseObject(JSON.stringify(video["error"]))?.["message"];
    const text = `The video failed: ${stringOf(message)}`;
    return { content: [{ type: "text", text }], structuredContent: video, isError: true };
  }
  const links = objectsOf(video["output"]).map(({ url }) => ({
    type: "resource_link" as const,
    uri: stringOf(url),
    name: stringOf(video["id"]),
    mimeType: "video/mp4",
  }));
  return { content: links, structuredContent: video };
}

/** Ends a job that has not ended. False if the caller has no such job. */
export async function cancelTask(looker: Looker, taskId: string): Promise<boolean> {
  const job = readTaskId(taskId);
  return job !== undefined && cancelJob(looker, job);
}

async function cancelJob(looker: Looker, job: JobName): Promise<boolean> {
  const seen = await lookAt(looker, job, firstPage);
  // An ended job stays as it is: cancelling a finished video would delete it.
  if (seen === undefined || seen.task.status !== "working") return seen !== undefined;
  const { principal, services } = looker;
  if (job.kind === "crawl") await services.crawls.cancel({ principal, kind: "crawl", version: "v2", id: job.id });
  // A provider may not cancel: the video is then made, and paid for.
  else await removeVideo(looker, job.id);
  return true;
}

async function removeVideo({ principal, services }: Looker, videoId: string): Promise<void> {
  try {
    await services.videos.remove({ principal, request: lookRequest(), videoId, provider: undefined });
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
  }
}
