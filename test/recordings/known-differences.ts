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
    because: "Perplexity's whole answers have an empty `delta` beside the `message`, and only the `delta` is read",
    ids: [1685, 1686, 1687, 1688, 1689, 1706, 1713, 2063, 2064],
    shown: {
      chat: ["text", "citations"],
      messages: ["text", "order", "citations"],
      responses: ["text", "order", "citations"],
    },
  },
  {
    because: "a call with an empty `custom` beside its `function` is read as a custom one, and loses its arguments",
    ids: [712, 715],
    shown: everywhere("calls"),
  },
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
  {
    because: "the content of a `message_start` (a call that Anthropic's code execution makes) is not read",
    ids: [2786],
    shown: { chat: ["calls", "stop"], messages: ["calls", "order", "stop"], responses: ["calls", "order"] },
  },
  {
    because: "the text of a compaction comes as a `compaction_delta`, which is not read",
    ids: [546, 2601],
    shown: { messages: ["hosted"] },
  },
  {
    because: "the model is taken from the first chunk, where Azure names none",
    ids: [1217, 2362],
    shown: everywhere("model"),
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

/** Errors whose message the provider's rules do not find: it is in `detail`. */
export const knownFailures: readonly number[] = [1718];
