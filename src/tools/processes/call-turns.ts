/**
 * The calls of a process whose questions name no call: while one user's calls are under way, those of others wait, so that a question
 * can belong to one user only. A process that asks nothing needs no turns.
 */
export class CallTurns {
  /** Whether calls wait for each other. */
  isStrict = false;
  readonly #active = new Map<string, number>();
  #waiting: { user: string; begin: () => void }[] = [];

  /** The only user with calls under way; undefined if there are none or several. */
  get onlyUser(): string | undefined {
    const [first, ...others] = this.#active.keys();
    return others.length > 0 ? undefined : first;
  }

  /** A function for the end of the call, if it may begin. */
  tryEnter(user: string): (() => void) | undefined {
    if (!this.#mayBegin(user)) return undefined;
    this.#active.set(user, (this.#active.get(user) ?? 0) + 1);
    return () => this.#leave(user);
  }

  /** Resolves when the call may begin, with a function for its end. */
  async enter(user: string, signal: AbortSignal): Promise<() => void> {
    for (;;) {
      const leave = this.tryEnter(user);
      if (leave !== undefined) return leave;
      const { promise, resolve } = Promise.withResolvers<void>();
      const waiting = { user, begin: resolve };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      if (signal.aborted) {
        this.#wake();
        signal.throwIfAborted();
      }
    }
  }

  /** One who comes later does not pass those who wait. */
  #mayBegin(user: string): boolean {
    if (!this.isStrict || this.#active.size === 0) return true;
    return this.onlyUser === user && this.#waiting.every((each) => each.user === user);
  }

  #leave(user: string): void {
    const rest = (this.#active.get(user) ?? 1) - 1;
    if (rest > 0) this.#active.set(user, rest);
    else this.#active.delete(user);
    this.#wake();
  }

  #wake(): void {
    if (this.#active.size > 0) return;
    const next = this.#waiting[0]?.user;
    for (const { user: waiting, begin } of this.#waiting) if (waiting === next) begin();
  }
}
