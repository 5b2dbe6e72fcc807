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

const everywhere = (...aspects: Aspect[]) => ({ chat: aspects, messages: aspects, responses: aspects });

/** The known defects of today. The tests fail for any other difference, and if one of these no longer exists. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    because: "signatures and thoughts in cipher in `reasoning_details` (OpenRouter, Snowflake) are not read",
    ids: [712, 765, 766, 779, 856, 2147],
    shown: everywhere("signatures"),
  },
  {
    because: "the signature that Google's layer has for the whole message, not for a call, is not read",
    ids: [453, 454, 2777, 2778],
    shown: everywhere("signatures"),
  },
  {
    because: "thoughts between `<thought>` tags, which Google's layer marks as such, are read as text",
    ids: [2776, 2777, 2778],
    shown: { messages: ["text", "thoughts", "order"], responses: ["text", "thoughts", "order"] },
  },
  {
    because: "thoughts between `<think>` tags are read as text but at Perplexity",
    ids: [234],
    shown: { messages: ["text", "thoughts", "order"], responses: ["text", "thoughts", "order"] },
  },
  {
    because: "citations that come before the first text of a stream (OpenRouter) are dropped",
    ids: [778],
    shown: everywhere("citations"),
  },
  {
    because: "pictures in a chat message (OpenRouter) are dropped",
    ids: [2820],
    shown: everywhere("media"),
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
