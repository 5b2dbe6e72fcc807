import type { Dialect } from "../../src/core/index.ts";
import type { Aspect } from "./shown.ts";

/** A difference between the upstream's and the client's content, or between usage and charge. */
interface KnownDifference {
  because: string;
  /** Of recordings in `index.jsonl`. */
  ids: readonly number[];
  /** The differences for a client of each dialect. */
  shown?: Partial<Readonly<Record<Dialect, readonly Aspect[]>>>;
  /** The usage that a call is charged by differs. */
  charged?: true;
}

/**
 * Differences that are meant, each with its reason; defects are fixed. The tests fail for any other difference, and if
 * one of these no longer exists.
 */
export const knownDifferences: readonly KnownDifference[] = [
  {
    because:
      "Google signs a streamed answer at its end. In Messages that would be a thought after the text, and `claude -p` prints an answer's last block only; Google answers without such a signature",
    ids: [2777],
    shown: { messages: ["signatures"] },
  },
  {
    because: "The same in Google's own API, whole or streamed",
    ids: [3003, 3013, 3028, 3029, 3034, 3035, 3037],
    shown: { messages: ["signatures"] },
  },
  {
    because:
      "Searches that run side by side are written in the order in which they ended: a stream does not wait for the first one",
    ids: [2775],
    shown: { responses: ["hosted"] },
  },
];

/** The known differences for a client of this dialect; sorted, without duplicates. */
export function knownAspects(id: number, dialect: Dialect): Aspect[] {
  const found = knownDifferences.flatMap(({ ids, shown }) => (ids.includes(id) ? (shown?.[dialect] ?? []) : []));
  return [...new Set(found)].toSorted();
}

export function isKnownCharge(id: number): boolean {
  return knownDifferences.some(({ ids, charged }) => charged === true && ids.includes(id));
}

/** Errors whose message the provider's rules do not find. */
export const knownFailures: readonly number[] = [];
