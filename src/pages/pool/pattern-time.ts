/** The processor time for the patterns of one user a minute, and of one list of addresses. */
const MINUTE_MS_MAX = 10_000;
const LIST_MS_MAX = 2_000;

const MINUTE_MS = 60_000;

interface Spending {
  /** Its minute began then. */
  since: number;
  ms: number;
}

/** The processor time that comparing addresses with patterns has taken, by user. */
export class PatternTime {
  readonly #now: () => number;
  readonly #spent = new Map<string, Spending>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** For the next list of this user's. */
  leftMs(owner: string): number {
    const spending = this.#spent.get(owner);
    const isOver = spending !== undefined && this.#now() - spending.since >= MINUTE_MS;
    if (isOver) this.#spent.delete(owner);
    const spentMs = isOver ? 0 : (spending?.ms ?? 0);
    return Math.min(LIST_MS_MAX, MINUTE_MS_MAX - spentMs);
  }

  spend(owner: string, ms: number): void {
    const spending = this.#spent.get(owner);
    if (spending !== undefined) spending.ms += ms;
    else {
      this.#forgetOld();
      this.#spent.set(owner, { since: this.#now(), ms });
    }
  }

  /** They are in the order in which their minutes began. */
  #forgetOld(): void {
    for (const [owner, { since }] of this.#spent) {
      if (this.#now() - since < MINUTE_MS) return;
      this.#spent.delete(owner);
    }
  }
}
