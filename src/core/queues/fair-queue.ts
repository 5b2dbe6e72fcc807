/**
 * Who runs next when many wait for few places. A task belongs to an owner, and may go to an upstream:
 *
 *   add ──▶ waiting ──take, if its owner and upstream may have the place──▶ running ──end──▶ gone
 *
 * - The owner that was served longest ago is next, and of its tasks those for the upstream that was served longest ago.
 * - While others wait, an owner runs in at most three quarters of the places, and so does an upstream, unless the owner runs
 *   nothing.
 * - The last place is left to an owner that runs nothing, and one more to an upstream that nothing is sent to.
 */

/** Tasks of one owner that wait, unless a queue sets another bound. */
const WAITING_PER_OWNER_MAX = 32;

/** The share of the places that one owner, or one upstream, has while others wait. */
const SHARE = 3 / 4;

/** The share of the places for all tasks of an upstream that hangs, of which each owner has one. */
const HANGING_SHARE = 1 / 4;

/** Owners and upstreams whose last turn is remembered; those who had theirs longest ago are forgotten first. */
const TURNS_REMEMBERED = 10_000;

export interface QueuedTask {
  readonly owner: string;
  /** Absent for work that asks no upstream. */
  readonly upstream?: string | undefined;
}

export interface FairQueueOptions {
  /** Tasks that run at the same time. */
  places: number;
  waitingPerOwnerMax?: number;
  /** Whether an upstream does not answer: then one task of each owner at a time is for it. */
  isHanging?: (upstream: string) => boolean;
}

export class FairQueue<Task extends QueuedTask> {
  readonly places: number;
  readonly #waitingPerOwnerMax: number;
  readonly #isHanging: (upstream: string) => boolean;
  /** The waiting tasks of each owner, in the order in which they came. */
  readonly #waiting = new Map<string, Set<Task>>();
  readonly #owners = new Counts();
  readonly #upstreams = new Counts();
  /** Running tasks for an upstream, by owner and upstream. */
  readonly #pairs = new Counts();
  #running = 0;

  constructor({ places, waitingPerOwnerMax = WAITING_PER_OWNER_MAX, isHanging = () => false }: FairQueueOptions) {
    this.places = places;
    this.#waitingPerOwnerMax = waitingPerOwnerMax;
    this.#isHanging = isHanging;
  }

  /** The number of tasks that run. */
  get running(): number {
    return this.#running;
  }

  /** The number of tasks that wait. */
  get waiting(): number {
    let waiting = 0;
    for (const own of this.#waiting.values()) waiting += own.size;
    return waiting;
  }

  /** Returns false, and adds nothing, if too many tasks of the owner wait. */
  add(task: Task): boolean {
    const own = this.#waiting.get(task.owner);
    if (own === undefined) this.#waiting.set(task.owner, new Set([task]));
    else if (own.size >= this.#waitingPerOwnerMax) return false;
    else own.add(task);
    return true;
  }

  /** Returns false if the task does not wait. */
  remove(task: Task): boolean {
    const own = this.#waiting.get(task.owner);
    if (own?.delete(task) !== true) return false;
    if (own.size === 0) this.#waiting.delete(task.owner);
    return true;
  }

  /** Removes and returns all tasks that wait. */
  clear(): Task[] {
    const tasks = [...this.#waiting.values()].flatMap((own) => [...own]);
    this.#waiting.clear();
    return tasks;
  }

  /** The next task that may run, which counts as running from now on. */
  take(): Task | undefined {
    if (this.#running >= this.places) return undefined;
    let first: Task | undefined;
    for (const [owner, tasks] of this.#waiting) {
      if (first !== undefined && this.#owners.turnOf(owner) >= this.#owners.turnOf(first.owner)) continue;
      first = this.#firstOf(tasks) ?? first;
    }
    if (first !== undefined) this.#start(first);
    return first;
  }

  /** Gives the place of a task back that `take` has returned. */
  end({ owner, upstream }: Task): void {
    this.#running -= 1;
    this.#owners.end(owner);
    if (upstream === undefined) return;
    this.#upstreams.end(upstream);
    this.#pairs.end(pairOf(owner, upstream));
  }

  #start(task: Task): void {
    const { owner, upstream } = task;
    this.remove(task);
    this.#running += 1;
    this.#owners.start(owner);
    if (upstream === undefined) return;
    this.#upstreams.start(upstream);
    this.#pairs.start(pairOf(owner, upstream));
  }

  /** The owner's task that is next, of those that may run. */
  #firstOf(tasks: ReadonlySet<Task>): Task | undefined {
    let first: Task | undefined;
    const seen = new Set<string | undefined>();
    for (const task of tasks) {
      if (seen.has(task.upstream)) continue;
      seen.add(task.upstream);
      if (first !== undefined && this.#upstreamTurn(task) >= this.#upstreamTurn(first)) continue;
      if (this.#mayRun(task)) first = task;
    }
    return first;
  }

  #upstreamTurn({ upstream }: Task): number {
    return upstream === undefined ? 0 : this.#upstreams.turnOf(upstream);
  }

  #mayRun({ owner, upstream }: Task): boolean {
    const owned = this.#owners.of(owner);
    const sent = upstream === undefined ? 0 : this.#upstreams.of(upstream);
    const kept = Number(owned > 0) + Number(sent > 0);
    if (this.places - this.#running <= kept) return false;
    if (owned >= this.#share && this.#othersWait(owner)) return false;
    if (upstream === undefined) return true;
    if (this.#isHanging(upstream)) {
      return this.#pairs.of(pairOf(owner, upstream)) === 0 && sent < Math.ceil(this.places * HANGING_SHARE);
    }
    return owned === 0 || sent < this.#share || !this.#othersWaitFor(upstream);
  }

  get #share(): number {
    return Math.max(1, Math.floor(this.places * SHARE));
  }

  #othersWait(owner: string): boolean {
    return this.#waiting.size > (this.#waiting.has(owner) ? 1 : 0);
  }

  /** Whether a task for another upstream waits. */
  #othersWaitFor(upstream: string): boolean {
    for (const tasks of this.#waiting.values()) {
      for (const task of tasks) if (task.upstream !== upstream) return true;
    }
    return false;
  }
}

const pairOf = (owner: string, upstream: string): string => JSON.stringify([owner, upstream]);

/** How much of something runs by name, and when each name had its last turn. */
class Counts {
  readonly #running = new Map<string, number>();
  /** In the order of the last turns. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  of(name: string): number {
    return this.#running.get(name) ?? 0;
  }

  /** 0 if it has had none, or none that is remembered. */
  turnOf(name: string): number {
    return this.#turns.get(name) ?? 0;
  }

  start(name: string): void {
    this.#running.set(name, this.of(name) + 1);
    this.#turn += 1;
    this.#turns.delete(name);
    this.#turns.set(name, this.#turn);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > TURNS_REMEMBERED && oldest !== undefined) this.#turns.delete(oldest);
  }

  end(name: string): void {
    const left = this.of(name) - 1;
    if (left > 0) this.#running.set(name, left);
    else this.#running.delete(name);
  }
}
