/** A clock that only moves from one event to the next, and the queue of these events. */
interface Due {
  at: number;
  /** Events of the same time come in the order in which they were planned. */
  order: number;
  run: () => void;
  isCancelled: boolean;
}

const isBefore = (one: Due, other: Due): boolean => (one.at === other.at ? one.order < other.order : one.at < other.at);

export class VirtualTime {
  /** In milliseconds since the epoch. */
  now = 1_800_000_000_000;
  #planned = 0;
  /** A binary heap, the next event first. */
  readonly #queue: Due[] = [];

  /** Calls back this many milliseconds from now. Returns a function that cancels it. */
  after(milliseconds: number, run: () => void): () => void {
    this.#planned += 1;
    const due: Due = { at: this.now + Math.max(milliseconds, 0), order: this.#planned, run, isCancelled: false };
    this.#insert(due);
    return () => {
      due.isCancelled = true;
    };
  }

  /** Moves to the next event. Returns its callback; undefined if nothing is planned. */
  next(): (() => void) | undefined {
    for (let due = this.#take(); due !== undefined; due = this.#take()) {
      if (due.isCancelled) continue;
      this.now = due.at;
      return due.run;
    }
    return undefined;
  }

  #insert(due: Due): void {
    const queue = this.#queue;
    let place = queue.push(due) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = queue[above];
      if (parent === undefined || !isBefore(due, parent)) break;
      queue[place] = parent;
      place = above;
    }
    queue[place] = due;
  }

  #take(): Due | undefined {
    const queue = this.#queue;
    const [first] = queue;
    const last = queue.pop();
    if (first === undefined || last === undefined || queue.length === 0) return first;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [one, other] = [queue[left], queue[left + 1]];
      if (one === undefined) break;
      const isRight = other !== undefined && isBefore(other, one);
      const least = isRight ? other : one;
      if (!isBefore(least, last)) break;
      queue[place] = least;
      place = isRight ? left + 1 : left;
    }
    queue[place] = last;
    return first;
  }
}
