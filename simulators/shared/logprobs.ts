import type { JsonObject } from "./json.ts";
import { textPieces } from "./words.ts";

/** How likely each token of a text was, and as many of the likeliest ones in its place as were asked for. */
export function tokenLogprobs(text: string, topCount: number): JsonObject[] {
  return textPieces(text).map((token, index) => {
    const tops = Array.from({ length: topCount }, (_, rank) =>
      tokenLogprob(rank === 0 ? token : `${token}${rank}`, rank),
    );
    return { ...tokenLogprob(token, index % 8), top_logprobs: tops };
  });
}

function tokenLogprob(token: string, steps: number): JsonObject {
  return { token, logprob: -0.125 * steps, bytes: [...Buffer.from(token)] };
}
