/**
 * The job of a video, from its hold to the upstream's answer. Its work is parked before an upstream is asked, and the
 * answer's id is stored before the client gets it:
 *
 *   park with the job's row → its record → send → the record gets id and key → the answer is kept for the retry key → answer
 *       ▲                                    │
 *       └── hold, row and record move ◀──────┘ refused before any work, and another target is left
 *
 * The job's row is leased by this process, which renews the short lease until an upstream has answered. If the process
 * dies before, the lease runs out, and any process ends the work: hold and retry key are free again. One that dies after
 * leaves a record, from which the runner keeps the answer.
 */
import { failedEnd, keepAnswer, type PaidAnswer, resumeWork, type RunningWork, type Work } from "../charges/index.ts";
import { formatCredits, GatewayError, isStorableId, limits } from "../core/index.ts";
import { keepLease, type LeasedJob, type LeaseKeeping, renewLease } from "../jobs/index.ts";
import type { CallTargets, Target } from "../routing/index.ts";
import {
  circuitOutcomeOf,
  type FailedAttempt,
  type FailedReply,
  moveOn,
  ProviderErrors,
  relayedErrorHeaders,
  relayedHeaders,
  repeatRules,
  setTarget,
  withFailures,
} from "../sending/index.ts";
import { type ApiAnswer, askApi, jobsOf } from "./ask-api.ts";
import { endLost, OVERDUE_MS_MAX, pauseAfter, videoLease, type VideoJobPayload } from "./follow-video.ts";
import type { VideoPlan } from "./plan-video.ts";
import type { MovedVideo, StoredVideo } from "./store.ts";
import { VIDEO_JOB, type VideoDependencies } from "./video-dependencies.ts";
import { createdAnswer } from "./video-object.ts";
import type { VideoRequest } from "./video-request.ts";

/** The pause before the storage is asked again. */
const STORE_AGAIN_MS = 500;

/** How long a storage that cannot write the upstream's answer is asked again: within the lease of the job's row. */
const WRITES_MS_MAX = 30_000;

/** A job leased by this process, before an upstream has answered. */
interface NewVideoJob extends LeasedJob {
  payload: VideoJobPayload;
}

/** The end of a request without an answer of the upstream. */
interface Lost {
  kind: "lost";
  thrown: unknown;
  /** Whether the upstream may have created the job. */
  isSent: boolean;
}

/** Resolves with the upstream's answer, or with its refusal. */
export async function createJob(
  deps: VideoDependencies,
  running: RunningWork<VideoPlan, Target>,
  plan: VideoPlan,
  headers: Headers,
): Promise<PaidAnswer> {
  running.work.asked.route = plan.targets?.route;
  const job = await parkIn(deps, running, plan);
  const creation = new JobCreation(deps, { running, plan, headers, job });
  const stopKeeping = keepLease(keepingOf(deps, job), job);
  try {
    return await creation.send();
  } catch (thrown) {
    creation.nameTarget(thrown);
    throw thrown;
  } finally {
    stopKeeping();
    creation.leave();
  }
}

async function parkIn(
  deps: VideoDependencies,
  running: RunningWork<VideoPlan, Target>,
  { target, targets, order, isOwn }: VideoPlan,
): Promise<NewVideoJob> {
  const { id, at, principal } = order;
  const row = { id, kind: VIDEO_JOB, owner: principal.user, runAt: at, createdAt: at, attempts: 0 };
  const lease = videoLease(deps, limits.videoLeaseMs);
  const until = at + jobsOf(target.route).api.jobMsMax;
  // A target that it moves to may take longer.
  const apis = targets === undefined ? [] : deps.router.routes.flatMap(({ provider }) => provider.videos ?? []);
  const heldUntil = Math.max(until, ...apis.map(({ jobMsMax }) => at + jobMsMax)) + OVERDUE_MS_MAX;
  let job: NewVideoJob | undefined;
  await running.park(
    heldUntil,
    (parked) => (job = { ...row, lease, payload: { parked, until, ...(isOwn && { isOwn }) } }),
  );
  if (job === undefined) throw new Error("parked without a job");
  return job;
}

/** If this process dies, another one soon takes the job for lost, and frees its hold and its retry key. */
function keepingOf({ jobs, ticker, environment, logger }: VideoDependencies, { id }: NewVideoJob): LeaseKeeping {
  const onError = (reason: unknown): void =>
    logger.warn({ request_id: id, reason: String(reason) }, "the lease of a video job could not be renewed yet");
  return { jobs, ticker, clock: environment.clock, leaseMs: limits.videoLeaseMs, onError };
}

interface JobCreationOptions {
  running: RunningWork<VideoPlan, Target>;
  plan: VideoPlan;
  headers: Headers;
  job: NewVideoJob;
}

class JobCreation {
  readonly #deps: VideoDependencies;
  readonly #running: RunningWork<VideoPlan, Target>;
  readonly #headers: Headers;
  readonly #job: NewVideoJob;
  readonly #targets: CallTargets | undefined;
  readonly #startedAt: number;
  /** The work that the job keeps. */
  readonly #work: Work;
  readonly #errors = new ProviderErrors<{ plan: VideoPlan; reply: FailedReply }>();
  #plan: VideoPlan;
  #video: StoredVideo;

  constructor(deps: VideoDependencies, { running, plan, headers, job }: JobCreationOptions) {
    this.#deps = deps;
    this.#running = running;
    this.#headers = headers;
    this.#job = job;
    this.#targets = plan.targets;
    this.#startedAt = deps.ticker.now();
    this.#work = resumeWork(deps.work, job.payload.parked);
    this.#plan = plan;
    this.#video = recordOf(plan);
  }

  /** Stops following the work; its hold stays with the job. */
  leave(): void {
    this.#work.leave();
  }

  /** Names the target that was asked last in the error with which the request fails. */
  nameTarget(thrown: unknown): void {
    const { attempts } = this.#running;
    if (!(thrown instanceof GatewayError) || attempts === 0) return;
    const headers = withFailures({ ...thrown.headers }, this.#work.asked.attempts);
    setTarget(headers, this.#work.order.source, attempts);
    thrown.headers = headers;
  }

  async send(): Promise<PaidAnswer> {
    try {
      await this.#deps.videos.insert(this.#video);
    } catch (thrown) {
      await this.#giveUp(thrown);
      throw thrown;
    }
    for (;;) {
      const failures: FailedAttempt[] = [];
      const asked = await this.#ask(failures);
      if (asked.kind === "answer") {
        this.#targets?.note("works");
        return this.#created(asked);
      }
      if (asked.kind === "failed") this.#errors.note({ plan: this.#plan, reply: asked }, failures);
      const last = failures.at(-1);
      this.#targets?.note(last === undefined ? "none" : circuitOutcomeOf(last.failure));
      if (!(await this.#moveOn(failures))) return this.#lastWord(asked);
    }
  }

  get #attemptsLeft(): number {
    return this.#limits.attempts - this.#running.attempts;
  }

  get #limits() {
    return this.#targets?.limits ?? this.#deps.routeLimits;
  }

  /** The held amount, in credits. */
  get #held(): string {
    return formatCredits(BigInt(this.#work.parked().held));
  }

  async #ask(failures: FailedAttempt[]): Promise<ApiAnswer | FailedReply | Lost> {
    const { send } = this.#deps;
    const { target, upstreamBody: body, pinnedKeyId } = this.#plan;
    const again = this.#targets === undefined ? Number.POSITIVE_INFINITY : this.#attemptsLeft - 1;
    const hasNext = this.#targets && this.#targets.hasMore && again > 0;
    const retries = hasNext === true ? again : Math.min(send.retries, again);
    let isSent = false;
    try {
      return await askApi(
        { ...this.#deps, send: { ...send, retries } },
        {
          target,
          body,
          pinnedKeyId,
          clientHeaders: this.#headers,
          workId: this.#video.id,
          repeats: repeatRules[this.#video.operation],
          hasNext,
          onFailure: (failed) => void failures.push(failed),
          work: {
            work: this.#work,
            noteAttempt: () => this.#running.noteAttempt(),
            noteSent: (sent) => void (isSent = sent),
            lostCredits: () => this.#held,
          },
          totalMsMax: send.totalMsMax,
        },
      );
    } catch (thrown) {
      return { kind: "lost", thrown, isSent };
    }
  }

  /** Gives the job to its next target. Resolves with whether there is one; rejects once the job has been given up. */
  async #moveOn(failures: readonly FailedAttempt[]): Promise<boolean> {
    const targets = this.#targets;
    if (targets === undefined) return false;
    const until = this.#startedAt + this.#limits.deadlineMs;
    try {
      const next = await moveOn(targets, {
        operation: this.#video.operation,
        failures,
        mayAsk: () => this.#attemptsLeft > 0 && this.#deps.ticker.now() < until,
        planFor: (target) => this.#running.plan(target),
        moveTo: (plan) => this.#moveTo(plan),
      });
      return next !== undefined;
    } catch (thrown) {
      await this.#giveUp(thrown);
      throw thrown;
    }
  }

  /**
   * The hold moves first, then the row, then the record: of a process that dies in between the row ends the work, which no upstream
   * has got.
   */
  async #moveTo(plan: VideoPlan): Promise<boolean> {
    const { jobs, videos } = this.#deps;
    const job = this.#job;
    await this.#requireLease(() => renewLease(keepingOf(this.#deps, job), job));
    if ((await this.#work.moveTo(plan.order)) !== "moved") return false;
    const until = this.#video.createdAt + jobsOf(plan.target.route).api.jobMsMax;
    job.payload = { ...job.payload, parked: this.#work.parked(), until };
    await this.#requireLease(() => jobs.rewrite(job, job.payload));
    const moved = movedTo(plan, this.#video.createdAt);
    await videos.moved(job.id, moved);
    this.#plan = plan;
    this.#video = { ...this.#video, ...moved };
    return true;
  }

  /** A process that was paused, or cut off from the storage, may have been taken for dead. */
  async #requireLease(write: () => Promise<boolean>): Promise<void> {
    if (await write()) return;
    throw new GatewayError("storage_unavailable", "The job could not be stored in time, and has been given up.");
  }

  /** An upstream's own refusal is relayed, and nothing is charged; an answer that may have created the job is lost. */
  async #lastWord(asked: FailedReply | Lost): Promise<PaidAnswer> {
    const refused = this.#errors.most;
    if (refused !== undefined && (asked.kind === "failed" || !asked.isSent)) return this.#refused(refused);
    const { thrown, isSent } = asked as Lost;
    if (isSent) await this.#lose(thrown);
    else await this.#giveUp(thrown);
    throw thrown;
  }

  async #refused({ plan, reply }: { plan: VideoPlan; reply: FailedReply }): Promise<PaidAnswer> {
    const { status, body } = reply;
    const headers = relayedErrorHeaders(reply.headers, plan.target.route);
    this.#work.asked.upstreamRequestId = headers["x-upstream-request-id"];
    setTarget(headers, plan.order.source, this.#running.attempts);
    await this.#work.end({ status, outcome: "failed" });
    await this.#removeRows();
    return { status, headers: withFailures(headers, this.#work.asked.attempts), body };
  }

  /** Ends the work of a job that no upstream has. */
  async #giveUp(thrown: unknown): Promise<void> {
    await this.#work.end(failedEnd(thrown));
    await this.#removeRows();
  }

  async #removeRows(): Promise<void> {
    await this.#deps.videos.remove(this.#video.id);
    await this.#deps.jobs.finish(this.#job);
  }

  /** The answer is lost: the upstream may have created the job. */
  async #lose(thrown: unknown): Promise<void> {
    this.leave();
    await endLost(this.#deps, { ...this.#job.payload, parked: this.#work.parked() }, this.#video, thrown);
    await this.#deps.jobs.finish(this.#job);
  }

  async #created({ json, keyId, headers: replied }: ApiAnswer): Promise<PaidAnswer> {
    const deps = this.#deps;
    const { videos, jobs } = deps;
    const { target, order, operation } = this.#plan;
    const job = this.#job;
    const headers = relayedHeaders(replied, target.route);
    this.#work.asked.upstreamRequestId = headers["x-upstream-request-id"];
    const payload = { ...job.payload, parked: this.#work.parked() };
    const { api } = jobsOf(target.route);
    const videoId = api.readId(json);
    const at = deps.environment.clock();
    // A job that its upstream has already ended is charged by its first look.
    const { status, ...seen } = api.readJob(json, { operation, bound: order.bound }, at);
    const state = { ...seen, status: status === "completed" || status === "failed" ? "in_progress" : status } as const;
    const stored = { videoId, keyId, state, answer: json, polledAt: at };
    const answer = createdAnswer({ ...this.#video, ...stored }, payload.parked, deps.publicUrl, payload.isOwn === true);
    await this.#requireLease(() => storeAnswer(deps, () => renewLease(keepingOf(deps, job), job)));
    const isNamed = videoId !== undefined && isStorableId(videoId);
    if (!isNamed || !(await storeAnswer(deps, () => videos.created(job.id, stored)))) {
      const error = new GatewayError("upstream_invalid_answer", "The upstream did not name the video job.");
      await this.#lose(error);
      throw error;
    }
    try {
      await storeAnswer(deps, () => keepAnswer(deps.work, payload.parked, answer));
      await jobs.reschedule(job, { runAt: at + pauseAfter(0), attempts: 0, payload: { ...payload, isAnswered: true } });
    } catch (reason) {
      // The lease runs out, and the job goes on then. Its client must not order the video again.
      deps.logger.warn({ request_id: job.id, reason: String(reason) }, "a video job will be looked up late");
    }
    const credits = { "x-tollgate-credits": formatCredits(0n), "x-tollgate-credits-held": this.#held };
    return {
      status: 200,
      headers: { ...headers, ...Object.fromEntries(answer.headers), ...credits },
      body: answer.body,
    };
  }
}

function recordOf(plan: VideoPlan): StoredVideo {
  const { operation, order, source, body } = plan;
  const { id, at, principal } = order;
  return {
    id,
    videoId: undefined,
    keyId: undefined,
    owner: principal.user,
    accountId: principal.accountId,
    operation,
    sourceId: source?.videoId,
    webhookUrl: body.webhook_url ?? undefined,
    state: { status: "queued", urls: [] },
    answer: {},
    credits: undefined,
    createdAt: at,
    polledAt: at,
    ...movedTo(plan, at),
  };
}

function movedTo({ target, body, bound }: VideoPlan, createdAt: number): MovedVideo {
  return {
    provider: target.route.prefix,
    model: target.model,
    requested: requestedIn(body, bound),
    keptUntil: createdAt + jobsOf(target.route).api.jobMsMax + limits.videoTtlMs,
  };
}

/** What the answer says of the video before the upstream does. */
function requestedIn({ size }: VideoRequest, { outputVideo }: VideoPlan["bound"]): StoredVideo["requested"] {
  const { outputVideoMs } = outputVideo.usage;
  return {
    seconds: outputVideoMs === undefined ? undefined : outputVideoMs / 1_000,
    size: typeof size === "string" ? size : undefined,
  };
}

/** The upstream has created the job: a storage that fails is asked again. */
async function storeAnswer<T>({ ticker, logger }: VideoDependencies, store: () => Promise<T>): Promise<T> {
  const giveUpAt = ticker.now() + WRITES_MS_MAX;
  for (;;) {
    try {
      return await store();
    } catch (reason) {
      if (ticker.now() >= giveUpAt) throw reason;
      logger.warn({ reason: String(reason) }, "the answer to the creation of a video job could not be stored yet");
      await ticker.pause(STORE_AGAIN_MS);
    }
  }
}
