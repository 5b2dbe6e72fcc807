import type { JsonObject } from "../json.ts";

/** The end that a job comes to. */
type VideoEnd = "completed" | "failed" | "failed-billed" | "expired" | "blocked" | "never";

/** A video job that a provider runs. */
export interface VideoJob {
  /** The API key: each one has an account of its own. */
  readonly account: string;
  readonly id: string;
  /** The provider's answer about it, whatever its state. */
  readonly body: JsonObject;
  /** By the simulators' clock, in milliseconds. */
  readonly createdAt: number;
  /** The length of the video. */
  readonly seconds: number;
  readonly end: VideoEnd;
  /** How many times as long as usual it takes. */
  readonly slowness: number;
  readonly cancelled?: boolean;
}

/** The state of a job at a moment. */
export interface VideoPhase {
  readonly phase: "queued" | "running" | "ended";
  /** In percent. */
  readonly progress: number;
  /** In milliseconds, of an ended job. */
  readonly endedAt: number;
}

/** A job waits this long, and then runs this long. */
const queuedMs = 1_000;
const runningMs = 3_000;
const jobsMax = 20_000;

/** A clock that a test can turn forward. */
export class SimulatorClock {
  #aheadMs = 0;

  get now(): number {
    // oxlint-disable-next-line no-restricted-properties -- jobs run in real time unless a test turns the clock
    return Date.now() + this.#aheadMs;
  }

  advance(milliseconds: number): void {
    this.#aheadMs += milliseconds;
  }
}

/** The jobs that one provider runs; the oldest make room for new ones. */
export class StoredVideos {
  readonly clock: SimulatorClock;
  readonly #jobs = new Map<string, VideoJob>();
  #count = 0;

  constructor(clock: SimulatorClock) {
    this.clock = clock;
  }

  /** A number for each job: equal requests make different ones. */
  next(): number {
    this.#count += 1;
    return this.#count;
  }

  add(job: VideoJob): void {
    this.#jobs.set(job.id, job);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > jobsMax && oldest !== undefined) this.#jobs.delete(oldest);
  }

  get(account: string, id: string): VideoJob | undefined {
    const job = this.#jobs.get(id);
    return job?.account === account ? job : undefined;
  }

  /** The job, whoever's it is: for signed addresses. */
  find(id: string): VideoJob | undefined {
    return this.#jobs.get(id);
  }

  delete(id: string): void {
    this.#jobs.delete(id);
  }

  /** Oldest first. */
  all(account: string): readonly VideoJob[] {
    return [...this.#jobs.values()].filter((job) => job.account === account);
  }

  phaseOf({ createdAt, end, slowness, cancelled }: VideoJob): VideoPhase {
    const age = (this.clock.now - createdAt) / slowness;
    const endedAt = createdAt + (queuedMs + runningMs) * slowness;
    if (cancelled === true) return { phase: "ended", progress: 0, endedAt: createdAt };
    if (age < queuedMs || end === "never") return { phase: "queued", progress: 0, endedAt };
    const progress = Math.floor(((age - queuedMs) / runningMs) * 100);
    return progress < 100 ? { phase: "running", progress, endedAt } : { phase: "ended", progress: 100, endedAt };
  }
}

/** The end and the speed that words of a prompt select; see simulators/README.md. */
export function readVideoScenario(prompt: string): Pick<VideoJob, "end" | "slowness"> {
  const [, word] = /\bvideo:([\w-]+)/.exec(prompt) ?? [];
  const ends: { readonly [word: string]: VideoEnd } = {
    fail: "failed",
    "fail-billed": "failed-billed",
    expire: "expired",
    block: "blocked",
    wait: "never",
  };
  const end = word !== undefined && Object.hasOwn(ends, word) ? ends[word] : undefined;
  return { end: end ?? "completed", slowness: word === "slow" ? 10 : 1 };
}
