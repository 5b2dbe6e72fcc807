/** Works of a series that are held before the upstream begins them: one for what it begins by itself, one for what it is asked for. */
import { openUnkeyed, type Work, type WorkDependencies, type WorkOrder } from "../charges/index.ts";
import { GatewayError, type Usage } from "../core/index.ts";

export interface HoldsAheadOptions {
  work: WorkDependencies;
  /** A new order, with its own id and the present bound. */
  newOrder: () => WorkOrder;
  /** Called with each work that is held. */
  onHeld: (work: Work) => void;
  /** The credits do not suffice to hold what comes next. */
  onRefused: (thrown: unknown) => void;
}

/** A token's limit or a busy ledger passes; the session waits for it this long. */
const WAIT_MS_MAX = 60_000;
const WAIT_MS = 1_000;

const passing: ReadonlySet<string> = new Set(["rate_limit_exceeded", "ledger_busy", "storage_unavailable"]);

export class HoldsAhead {
  readonly #options: HoldsAheadOptions;
  readonly #ahead: Work[] = [];
  /** For what the upstream will be asked for next. */
  #reserved: Work | undefined;
  #opening: Promise<void> | undefined;
  #isFinishing = false;

  constructor(options: HoldsAheadOptions) {
    this.#options = options;
  }

  /** The one that is used next. */
  get first(): Work | undefined {
    return this.#reserved ?? this.#ahead[0];
  }

  /** Holds the first work. Rejects with the refusal. */
  async open(): Promise<void> {
    this.#ahead.push(await this.#hold());
  }

  /** Holds a work ahead, if none is. Never rejects: `onRefused` is called then. */
  ensure(): Promise<void> {
    this.#opening ??= this.#holdAhead().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #holdAhead(): Promise<void> {
    if (this.#isFinishing || this.#ahead.length > 0) return;
    try {
      const work = await this.#holdPatiently();
      if (this.#isFinishing) await work?.discard();
      else if (work !== undefined) this.#ahead.push(work);
    } catch (thrown) {
      this.#options.onRefused(thrown);
    }
  }

  /** Undefined if the session ends meanwhile. */
  async #holdPatiently(): Promise<Work | undefined> {
    const { ticker } = this.#options.work;
    const until = ticker.now() + WAIT_MS_MAX;
    for (;;) {
      try {
        return await this.#hold();
      } catch (thrown) {
        const isPassing = thrown instanceof GatewayError && passing.has(thrown.code) && ticker.now() < until;
        if (!isPassing) throw thrown;
        await ticker.pause(WAIT_MS);
        if (this.#isFinishing) return undefined;
      }
    }
  }

  async #hold(): Promise<Work> {
    const { work: deps, newOrder, onHeld } = this.#options;
    const work = await openUnkeyed(deps, newOrder());
    onHeld(work);
    return work;
  }

  /** Raises the hold of the next work so that it covers this usage. Rejects if the credits do not suffice. */
  async cover(ahead: Usage): Promise<void> {
    await this.first?.cover(ahead);
  }

  /** Sets one aside for what the upstream will be asked for. Returns a promise if none is held; rejects if none can be. */
  reserve(): Promise<void> | undefined {
    this.#reserved ??= this.#ahead.shift();
    return this.#reserved === undefined ? this.#reserveLate() : undefined;
  }

  async #reserveLate(): Promise<void> {
    const work = await this.takeLate();
    if (work !== undefined && !this.#isFinishing) {
      this.#reserved = work;
      return;
    }
    await work?.discard();
    throw new GatewayError("session_expired", "The session is ending.");
  }

  takeReserved(): Work | undefined {
    const reserved = this.#reserved;
    this.#reserved = undefined;
    return reserved ?? this.take();
  }

  take(): Work | undefined {
    return this.#ahead.shift();
  }

  /** What was taken and is not needed after all is used next. */
  putBack(work: Work): void {
    if (this.#isFinishing) return void work.discard();
    if (this.#reserved === undefined) return void this.#ahead.unshift(work);
    this.#ahead.unshift(this.#reserved);
    this.#reserved = work;
  }

  /** One that is about to be held ahead, else another one. Undefined if the session ends meanwhile; rejects if none can be held. */
  async takeLate(): Promise<Work | undefined> {
    await this.#opening;
    return this.#ahead.shift() ?? this.#holdPatiently();
  }

  /** Nothing is held ahead from now on. */
  finish(): void {
    this.#isFinishing = true;
  }

  /** All that are held, once none is about to be. */
  async takeAll(): Promise<Work[]> {
    await this.#opening;
    const { first } = this;
    const others = this.#reserved === undefined ? this.#ahead.slice(1) : [...this.#ahead];
    this.#ahead.length = 0;
    this.#reserved = undefined;
    return first === undefined ? [] : [first, ...others];
  }
}
