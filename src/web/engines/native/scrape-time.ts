import type { CallSignal } from "../../../core/index.ts";

/** The time of one scrape. */
export interface ScrapeTime {
  /** Milliseconds, at least one. */
  left: () => number;
  signal: CallSignal;
  /** The user who waits. */
  owner: string;
}
