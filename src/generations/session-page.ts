/** Any number of groups that are kept before the page is cut to its size again. */
const SPARE_GROUPS = 1_000;

/**
 * One page of the sessions of a period, by name, while all of its calls are read: no more of them are kept than the page has,
 * and one that tells that there is another page. A session that is dropped comes after all of these, so it never returns.
 */
export class SessionPage {
  readonly #groups: Map<string, unknown>;
  readonly #after: string;
  readonly #size: number;
  /** The last session that may still be on the page. */
  #last: string | undefined;

  constructor(groups: Map<string, unknown>, { after = "", groupsMax }: { after?: string; groupsMax: number }) {
    this.#groups = groups;
    this.#after = after;
    this.#size = groupsMax + 1;
  }

  /** Whether a session is on an earlier or a later page; calls without one are on none. */
  excludes(session: string): boolean {
    return session <= this.#after || (this.#last !== undefined && session > this.#last);
  }

  trim(): void {
    if (this.#groups.size <= this.#size + SPARE_GROUPS) return;
    const sessions = [...this.#groups.keys()].toSorted();
    this.#last = sessions[this.#size - 1];
    for (const session of sessions.slice(this.#size)) this.#groups.delete(session);
  }
}
