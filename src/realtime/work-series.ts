/**
 * The works of a session that one model performs, one after the other: its responses, or the transcriptions of its
 * input. One work is always held ahead, because an upstream begins the next one by itself when it hears the user:
 *
 *   ensure ──▶ held ahead ──ask──▶ asked for ──begin──▶ running ──end──▶ charged, one generation
 *                  │  └──────────────begin────────────────▲
 *                  └──close──▶ discarded, or charged for the time of the connection
 *
 * A work that the upstream begins without a hold is held late.
 */
import { durably, outcomeOf, type Work } from "../charges/index.ts";
import { addUsage, GatewayError, type ObservedUsage, toGatewayError, type Usage } from "../core/index.ts";
import { HoldsAhead, type HoldsAheadOptions } from "./holds-ahead.ts";

export interface SeriesOptions extends Pick<HoldsAheadOptions, "work" | "newOrder"> {
  /**
   * The credits are used up by what runs, or do not suffice to hold what comes next: the session must end, at once or once
   * nothing runs.
   */
  onExhausted: (error: GatewayError, what: "running" | "ahead") => void;
  /** The usage that is charged: the reported one, if any, completed by an estimate. */
  usageOf: (reported: ObservedUsage | undefined, estimate: ObservedUsage) => ObservedUsage;
  /** What may still arrive once a running work has been cancelled. */
  unread: Usage;
  /** Whether the model is priced by the time that the session is connected. */
  isTimed: boolean;
  /** A monotonic clock, in milliseconds. */
  now: () => number;
}

/** A work that the upstream performs, or was asked for. */
interface ActiveWork {
  /** Undefined until the upstream has begun it. */
  id: string | undefined;
  /** Undefined while its hold is being taken. */
  work: Work | undefined;
  held: Promise<Work | undefined>;
  /** Its usage so far, judged by its messages. */
  estimate: () => ObservedUsage;
  /** Whether a part of it has passed. */
  hasPassed: boolean;
  /** Settled once its charge is durable, or could not be made so. */
  ending?: Promise<void>;
}

/** How a work ends. Without an error, and with its client, it is complete. */
export interface SeriesEnd {
  /** Undefined if the upstream has reported none: then it is estimated. */
  observed?: ObservedUsage | undefined;
  error?: GatewayError | undefined;
  /** Whether the client has left. */
  hasLeft?: boolean;
  /** Whether the upstream could not give it, or is gone: it bills nothing but what it reports, of what it had not begun. */
  isGivenUp?: boolean;
}

/** Ids that are remembered: of ended works, so that an end which is reported twice is charged once, and of requests. */
const RECENT_IDS_MAX = 1_000;

export class WorkSeries {
  readonly ahead: HoldsAhead;
  readonly #options: SeriesOptions;
  /** In the order in which they were asked for, or begun. */
  readonly #active: ActiveWork[] = [];
  readonly #ended = new RecentIds();
  /** Ends that are not durable yet. */
  readonly #ends = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;
  #isClosed = false;
  /** Undefined before the upstream has opened the connection, and for a model that is not priced by its time. */
  #connection: ConnectionTime | undefined;

  constructor(options: SeriesOptions) {
    this.#options = options;
    const { work, newOrder, unread } = options;
    this.ahead = new HoldsAhead({
      work,
      newOrder,
      onHeld: (held) =>
        held.meter(
          () => this.#usageSoFar(held),
          (error) => this.#exhausted(error, "running"),
          unread,
        ),
      onRefused: (thrown) => this.#exhausted(thrown, "ahead"),
    });
  }

  /** The upstream has opened the connection, whose time counts from now on if it is billed. */
  connected(): void {
    if (this.#options.isTimed) this.#connection = new ConnectionTime(this.#options.now);
  }

  /** Of the works that the upstream performs, and undefined for each that it was asked for and has not begun. */
  get activeIds(): readonly (string | undefined)[] {
    return this.#active.map(({ id }) => id);
  }

  /** Whether the work has begun, and perhaps ended. */
  knows(id: string): boolean {
    return this.#ended.has(id) || this.#find(id) !== undefined;
  }

  #exhausted(thrown: unknown, what: "running" | "ahead"): void {
    if (!this.#isClosed) this.#options.onExhausted(toGatewayError(thrown), what);
  }

  /** The upstream was asked for a work, for which one is reserved. */
  ask(estimate: () => ObservedUsage): void {
    this.#activate(undefined, estimate, this.ahead.takeReserved());
  }

  /** The upstream will begin a work by itself. */
  expect(estimate: () => ObservedUsage): void {
    if (!this.#isClosed) this.#activate(undefined, estimate);
  }

  /** The upstream has refused what it was asked for last. */
  async refused(): Promise<void> {
    const asked = this.#active.findLast(({ id }) => id === undefined);
    if (asked === undefined) return;
    this.#remove(asked);
    const work = asked.work ?? (await asked.held);
    if (work !== undefined) this.ahead.putBack(work);
  }

  /** The upstream has begun a work. Returns whether it is held already. */
  begin(id: string, estimate: () => ObservedUsage): boolean {
    if (this.knows(id) || this.#isClosed) return true;
    const asked = this.#active.find((one) => one.id === undefined);
    if (asked === undefined) return this.#activate(id, estimate).work !== undefined;
    asked.id = id;
    asked.estimate = estimate;
    return asked.work !== undefined;
  }

  #activate(id: string | undefined, estimate: () => ObservedUsage, work = this.ahead.take()): ActiveWork {
    work?.begin();
    const active: ActiveWork = { id, work, held: Promise.resolve(work), estimate, hasPassed: false };
    this.#active.push(active);
    // The upstream was faster than the ledger.
    if (work === undefined) active.held = this.#holdLate(active);
    return active;
  }

  async #holdLate(active: ActiveWork): Promise<Work | undefined> {
    try {
      const work = await this.ahead.takeLate();
      active.work = work;
      work?.begin();
      return work;
    } catch (thrown) {
      this.#exhausted(thrown, "running");
      return undefined;
    }
  }

  #find(id: string): ActiveWork | undefined {
    return this.#active.find((one) => one.id === id);
  }

  #remove(active: ActiveWork): void {
    const place = this.#active.indexOf(active);
    if (place !== -1) this.#active.splice(place, 1);
  }

  /** The first bytes of a running work have passed. */
  firstByte(id: string): void {
    const running = this.#find(id);
    if (running === undefined) return;
    running.hasPassed = true;
    running.work?.firstByte();
  }

  /**
   * Tops up what a running work has used. Returns a promise while nothing more of it may pass, because its hold is used up
   * or not taken yet; once it is settled, this is to be asked again.
   */
  keepUp(id: string): Promise<void> | undefined {
    const running = this.#find(id);
    if (running === undefined || running.ending !== undefined) return undefined;
    return running.work === undefined ? running.held.then(() => undefined) : running.work.keepUp();
  }

  /**
   * A running work has ended. Resolves once its charge is durable, and rejects if it cannot be made so: if this was closed
   * before the work began, or before it was held.
   */
  async end(id: string, end: SeriesEnd): Promise<void> {
    const running = this.#find(id);
    if (running !== undefined) return (running.ending ??= this.#charge(running, end));
    if (!this.#ended.has(id)) throw sessionEnded();
    await Promise.all(this.#ends);
  }

  async #charge(active: ActiveWork, { observed, error, hasLeft = false, isGivenUp = false }: SeriesEnd): Promise<void> {
    const work = active.work ?? (await active.held);
    const used = isGivenUp ? observed : this.#options.usageOf(observed, active.estimate());
    const connectionMs = work !== undefined && this.#carrier === work ? this.#connection?.take() : undefined;
    this.#remove(active);
    if (active.id !== undefined) this.#ended.add(active.id);
    // It was to be held late, and the session is ending: what nobody pays for must not reach the client.
    if (work === undefined) throw sessionEnded();
    const isWhole = error === undefined && !hasLeft;
    const outcome = isWhole ? "complete" : outcomeOf(error, { hasLeft, hasBegun: active.hasPassed });
    const charged = connectionMs === undefined ? used : withConnection(used, connectionMs);
    const committed = work.end({ status: 200, outcome, observed: charged, error });
    this.#ends.add(committed);
    await durably(committed.finally(() => this.#ends.delete(committed)));
  }

  /** Holds nothing ahead any more, so that the credits are there for what runs. */
  async finishRunning(): Promise<void> {
    this.ahead.finish();
    if (this.#active.length === 0) return;
    await Promise.all((await this.ahead.takeAll()).map((work) => work.discard()));
  }

  /**
   * Ends what runs, and what was asked for, by its estimates, and everything that is held ahead. Resolves once no end is
   * under way any more.
   */
  close(end: Omit<SeriesEnd, "observed">): Promise<void> {
    return (this.#closing ??= this.#close(end));
  }

  async #close({ isGivenUp = false, ...end }: Omit<SeriesEnd, "observed">): Promise<void> {
    this.ahead.finish();
    this.#isClosed = true;
    const ends = Promise.allSettled(
      [...this.#active].map(
        (each) => (each.ending ??= this.#charge(each, { ...end, isGivenUp: isGivenUp && each.id === undefined })),
      ),
    );
    const [first, ...others] = await this.ahead.takeAll();
    const milliseconds = this.#connection?.take() ?? 0;
    if (milliseconds > 0) {
      const observed = withConnection(undefined, milliseconds);
      await first?.end({ status: 200, outcome: "complete", observed });
    } else await first?.discard();
    for (const other of others) await other.discard();
    await ends;
    await Promise.all(this.#ends);
  }

  /** The work that is charged for the time of the connection. */
  get #carrier(): Work | undefined {
    return this.#active.find(({ work }) => work !== undefined)?.work ?? this.ahead.first;
  }

  #usageSoFar(work: Work): ObservedUsage | undefined {
    const used = this.#active.find((one) => one.work === work && one.id !== undefined)?.estimate();
    if (this.#connection === undefined || this.#carrier !== work) return used;
    return withConnection(used, this.#connection.milliseconds);
  }
}

function sessionEnded(): GatewayError {
  return new GatewayError("upstream_interrupted", "The session has ended.");
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

function withConnection(observed: ObservedUsage = { usage: {} }, connectionMs: number): ObservedUsage {
  return connectionMs === 0 ? observed : { ...observed, usage: addUsage(observed.usage, { connectionMs }) };
}

/** The last ids of many. */
export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= RECENT_IDS_MAX) return;
      this.#ids.delete(oldest);
    }
  }

  /** Returns whether it was there. */
  delete(id: string): boolean {
    return this.#ids.delete(id);
  }
}
