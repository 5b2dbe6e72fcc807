import type { ReplyHeaders } from "../core/index.ts";

/** The headers of a limit and of its rest, by convention: docs/wire/openai.md, anthropic.md and others.md. */
const conventions: readonly (readonly (readonly [limit: string, left: string])[])[] = [
  [
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests"],
    ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens"],
  ],
  [
    ["anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining"],
    ["anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining"],
  ],
  [
    ["x-ratelimit-limit-req-minute", "x-ratelimit-remaining-req-minute"],
    ["x-ratelimit-limit-tokens-minute", "x-ratelimit-remaining-tokens-minute"],
  ],
];

/** The part of a key's limits that is left, of the one with least: from 0 to 1; undefined if the answer names none. */
export function rateRoomOf(headers: ReplyHeaders): number | undefined {
  for (const limits of conventions) {
    const rooms = limits.flatMap(([limit, left]) => roomIn(headers.get(limit), headers.get(left)));
    if (rooms.length > 0) return Math.min(...rooms);
  }
  return undefined;
}

function roomIn(limit: string | null, left: string | null): number[] {
  if (limit === null || left === null) return [];
  const room = Number(left) / Number(limit);
  return room >= 0 && Number(limit) > 0 ? [Math.min(room, 1)] : [];
}
