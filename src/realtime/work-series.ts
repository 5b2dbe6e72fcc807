/**
 * The works of a session that one model performs, one after the other: its responses, or the transcriptions of its
 * input. One work is always held ahead, because an upstream begins the next one by itself when it hears the user:
 *
 *   ensure ──▶ held ahead ──begin──▶ running ──end──▶ charged, one generation
 *                  └──────close──▶ discarded, or charged for the time of the connection
 */
import { Work, openWork, type WorkDependencies, type WorkOrder } from "../charges/index.ts";
import { addUsage, GatewayError, type ObservedUsage, toGatewayError, type Usage } from "../core/index.ts";

export interface SeriesOptions {
  work: WorkDependencies;
  /** A new order, with its own id and the present bound. */
  newOrder: () => WorkOrder;
  /**
   * The credits are used up by what runs, or do not suffice to hold what comes next: the session must end, at once or once
   * nothing runs.
   */
  onExhausted: (error: GatewayError, what: "running" | "ahead") => void;
  /** What may still arrive once a running work has been cancelled. */
  unread: Usage;
  /** Whether the model is priced by the time that the session is connected. */
  isTimed: boolean;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}

/** A work that the upstream performs. */
interface Running {
  /** Undefined while its hold is being taken. */
  work: Work | undefined;
  held: Promise<Work | undefined>;
  /** Its usage so far, judged by its messages. */
  estimate: () => ObservedUsage;
  isEnding: boolean;
}

/** How a work has ended. */
export interface SeriesEnd {
  /** Undefined if the upstream has reported none: then it is estimated. */
  observed: ObservedUsage | undefined;
  outcome: "complete" | "failed" | "interrupted" | "abandoned";
  error?: GatewayError | undefined;
}

/** A token's limit or a busy ledger passes; the session waits for it this long. */
const WAIT_MS_MAX = 60_000;
const WAIT_MS = 1_000;

const passing: ReadonlySet<string> = new Set(["rate_limit_exceeded", "ledger_busy", "storage_unavailable"]);

export class WorkSeries {
  readonly #options: SeriesOptions;
  readonly #ahead: Work[] = [];
  readonly #running = new Map<string, Running>();
  /** Ends that are not durable yet. */
  readonly #ends = new Set<Promise<unknown>>();
  #opening: Promise<void> | undefined;
  #wanted = 0;
  #isClosed = false;
  /** Nothing is held ahead any more. */
  #isFinishing = false;
  /** Undefined before the upstream has opened the connection, and for a model that is not priced by its time. */
  #connection: ConnectionTime | undefined;

  constructor(options: SeriesOptions) {
    this.#options = options;
  }

  /** The upstream has opened the connection, whose time counts from now on if it is billed. */
  connected(): void {
    if (this.#options.isTimed) this.#connection = new ConnectionTime(this.#options.now);
  }

  /** The number of works that the upstream performs. */
  get running(): number {
    return this.#running.size;
  }

  get runningIds(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** Whether this many works are held ahead. */
  hasAhead(count: number): boolean {
    return this.#ahead.length >= count;
  }

  /** Holds the first work. Rejects with the refusal. */
  async open(): Promise<void> {
    this.#ahead.push(await this.#hold());
  }

  /** Holds works until this many are held ahead. Never rejects: a session without credits is ended by `onExhausted`. */
  ensure(count: number): Promise<void> {
    this.#wanted = Math.max(this.#wanted, count);
    this.#opening ??= this.#fill().finally(() => {
      this.#opening = undefined;
      this.#wanted = 0;
    });
    return this.#opening;
  }

  async #fill(): Promise<void> {
    try {
      while (!this.#isFinishing && this.#ahead.length < this.#wanted) {
        const work = await this.#holdPatiently();
        if (work === undefined) return;
        if (this.#isFinishing) await work.discard();
        else this.#ahead.push(work);
      }
    } catch (thrown) {
      this.#exhausted(thrown, "ahead");
    }
  }

  async #holdPatiently(): Promise<Work | undefined> {
    const { ticker } = this.#options.work;
    const until = ticker.now() + WAIT_MS_MAX;
    for (;;) {
      try {
        return await this.#hold();
      } catch (thrown) {
        const isPassing = thrown instanceof GatewayError && passing.has(thrown.code) && ticker.now() < until;
        if (!isPassing) throw thrown;
        await new Promise<void>((resolve) => ticker.after(WAIT_MS, resolve));
        if (this.#isFinishing) return undefined;
      }
    }
  }

  async #hold(): Promise<Work> {
    const { work: deps, newOrder } = this.#options;
    const work = await openWork(deps, newOrder());
    if (!(work instanceof Work)) throw new Error("work without a retry key was replayed");
    work.meter(
      () => this.#usageSoFar(work),
      (error) => this.#exhausted(error, "running"),
      this.#options.unread,
    );
    return work;
  }

  #exhausted(thrown: unknown, what: "running" | "ahead"): void {
    if (!this.#isClosed) this.#options.onExhausted(toGatewayError(thrown), what);
  }

  /** Raises the hold of the next work so that it covers this usage. Rejects if the credits do not suffice. */
  async cover(ahead: Usage): Promise<void> {
    await this.#ahead[0]?.cover(ahead);
  }

  /** The upstream has begun a work. Returns whether it is held already. */
  begin(id: string, estimate: () => ObservedUsage): boolean {
    if (this.#running.has(id) || this.#isClosed) return true;
    const work = this.#ahead.shift();
    work?.begin();
    const running: Running = { work, held: Promise.resolve(work), estimate, isEnding: false };
    this.#running.set(id, running);
    // The upstream was faster than the ledger.
    if (work === undefined) running.held = this.#holdLate(running);
    return work !== undefined;
  }

  async #holdLate(running: Running): Promise<Work | undefined> {
    await this.ensure(1);
    const work = this.#ahead.shift();
    running.work = work;
    work?.begin();
    if (work === undefined) {
      const error = new GatewayError("insufficient_credits", "Not enough credits for the response that has begun.");
      this.#exhausted(error, "running");
    }
    return work;
  }

  /** The first bytes of a running work have passed. */
  firstByte(id: string): void {
    this.#running.get(id)?.work?.firstByte();
  }

  /**
   * Tops up what a running work has used. Returns a promise while nothing more of it may pass, because its hold is used up
   * or not taken yet; once it is settled, this is to be asked again.
   */
  keepUp(id: string): Promise<void> | undefined {
    const running = this.#running.get(id);
    if (running === undefined || running.isEnding) return undefined;
    return running.work === undefined ? running.held.then(() => undefined) : running.work.keepUp();
  }

  /** A running work has ended. Resolves to whether its charge is durable; undefined if there is no such work. */
  async end(id: string, { observed, outcome, error }: SeriesEnd): Promise<boolean | undefined> {
    const running = this.#running.get(id);
    if (running === undefined || running.isEnding) return undefined;
    running.isEnding = true;
    const work = running.work ?? (await running.held);
    const used = observed ?? running.estimate();
    const isFirst = this.#carrier === work;
    this.#running.delete(id);
    if (work === undefined) return true;
    const charged = isFirst ? withConnection(used, this.#connection?.take()) : used;
    // An upstream does not bill a response that it could not give.
    const isFree = outcome === "failed" && observed === undefined && this.#connection === undefined;
    const committed = work.end({ status: 200, outcome, observed: isFree ? undefined : charged, error });
    this.#ends.add(committed);
    const { isDurable } = await committed;
    this.#ends.delete(committed);
    return isDurable;
  }

  /** Holds nothing ahead any more, so that the credits are there for what runs. */
  async finishRunning(): Promise<void> {
    this.#isFinishing = true;
    if (this.#running.size === 0) return;
    await this.#opening;
    await Promise.all(this.#ahead.splice(0).map((work) => work.discard()));
  }

  /** Ends what runs by its estimates, and everything that is held ahead. Resolves once no end is under way any more. */
  async close(outcome: SeriesEnd["outcome"], error?: GatewayError): Promise<void> {
    this.#isFinishing = true;
    for (const id of this.runningIds) await this.end(id, { observed: undefined, outcome, error });
    this.#isClosed = true;
    await this.#opening;
    const [first, ...others] = this.#ahead.splice(0);
    const milliseconds = this.#connection?.take() ?? 0;
    if (milliseconds > 0) {
      const observed = withConnection({ usage: {} }, milliseconds);
      await first?.end({ status: 200, outcome: "complete", observed });
    } else await first?.discard();
    for (const other of others) await other.discard();
    await Promise.all(this.#ends);
  }

  /** The work that is charged for the time of the connection. */
  get #carrier(): Work | undefined {
    for (const { work } of this.#running.values()) if (work !== undefined) return work;
    return this.#ahead[0];
  }

  #usageSoFar(work: Work): ObservedUsage | undefined {
    const running = [...this.#running.values()].find((one) => one.work === work);
    const used = running?.estimate();
    if (this.#connection === undefined || this.#carrier !== work) return used;
    return withConnection(used ?? { usage: {} }, this.#connection.milliseconds);
  }
}

/** The time of a connection that has not been charged yet. */
class ConnectionTime {
  readonly #now: () => number;
  #chargedUntil: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#chargedUntil = now();
  }

  get milliseconds(): number {
    return Math.ceil(this.#now() - this.#chargedUntil);
  }

  /** Takes the time so far, for a charge. */
  take(): number {
    const { milliseconds } = this;
    this.#chargedUntil = this.#now();
    return milliseconds;
  }
}

function withConnection(observed: ObservedUsage, connectionMs = 0): ObservedUsage {
  return connectionMs === 0 ? observed : { ...observed, usage: addUsage(observed.usage, { connectionMs }) };
}
