import type { SimulatorClock } from "../shared/videos/stored-videos.ts";
import type { JsonObject } from "../shared/json.ts";

/** A crawl or a batch, which reads a page every so often until it has them all or is cancelled. */
export interface Job {
  readonly kind: "crawl" | "batch/scrape";
  readonly id: string;
  /** The address that the crawl began with. */
  readonly url: string;
  readonly options: JsonObject;
  readonly pages: readonly JobPage[];
  readonly robotsBlocked: readonly string[];
  readonly createdAt: number;
  cancelledAt: number | undefined;
}

export interface JobPage {
  readonly url: string;
  readonly credits: number;
  /** The code of its error; undefined for a page that can be read. */
  readonly failure: string | undefined;
}

/** By the simulators' clock. */
const pageMs = 40;
const resultsMs = 86_400_000;
const creditsAtFirst = 100_000;
const jobsMax = 1_000;

/** The account behind an API key. */
export class Team {
  readonly #clock: SimulatorClock;
  readonly #granted: number;
  readonly #jobs = new Map<string, Job>();
  #spent = 0;

  constructor(granted: number, clock: SimulatorClock) {
    this.#granted = granted;
    this.#clock = clock;
  }

  get now(): number {
    return this.#clock.now;
  }

  get remaining(): number {
    const ofJobs = [...this.#jobs.values()]
      .flatMap((job) => this.readPages(job))
      .reduce((sum, page) => sum + page.credits, 0);
    return this.#granted - this.#spent - ofJobs;
  }

  /** The jobs that have not expired, oldest first. */
  get jobs(): readonly Job[] {
    return [...this.#jobs.values()].filter((job) => !this.isExpired(job));
  }

  spend(credits: number): void {
    this.#spent += credits;
  }

  add(job: Job): void {
    this.#jobs.set(job.id, job);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > jobsMax && oldest !== undefined) this.#jobs.delete(oldest);
  }

  job(kind: Job["kind"], id: string): Job | undefined {
    const job = this.#jobs.get(id);
    return job?.kind === kind ? job : undefined;
  }

  endOf({ createdAt, pages, cancelledAt }: Job): number {
    return cancelledAt ?? createdAt + pages.length * pageMs;
  }

  isEnded(job: Job): boolean {
    return this.now >= this.endOf(job);
  }

  expiresAt(job: Job): number {
    return this.endOf(job) + resultsMs;
  }

  isExpired(job: Job): boolean {
    return this.now > this.expiresAt(job);
  }

  /** The pages that it has read so far, including those that failed. */
  readPages(job: Job): readonly JobPage[] {
    const until = Math.min(this.now, this.endOf(job));
    return job.pages.slice(0, Math.floor((until - job.createdAt) / pageMs));
  }
}

/** The accounts of all keys. A key `fc-credits-50` has fifty credits, any other a hundred thousand. */
export class Teams {
  readonly #clock: SimulatorClock;
  readonly #teams = new Map<string, Team>();

  constructor(clock: SimulatorClock) {
    this.#clock = clock;
  }

  of(key: string): Team {
    const granted = /^fc-credits-(\d+)/.exec(key)?.[1];
    const team =
      this.#teams.get(key) ?? new Team(granted === undefined ? creditsAtFirst : Number(granted), this.#clock);
    this.#teams.set(key, team);
    return team;
  }

  /** Whether any team has this job. */
  hasJob(kind: Job["kind"], id: string): boolean {
    return [...this.#teams.values()].some((team) => team.job(kind, id) !== undefined);
  }
}
