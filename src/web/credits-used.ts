import type { JsonObject } from "../core/index.ts";

/**
 * The member `creditsUsed` of a document, for the client that sent this body. Firecrawl's SDK for Python, which names itself
 * in `origin`, fails on a number that is not whole, and gets none then: the header `x-tollgate-credits` has it as well.
 */
export function creditsUsed({ origin }: JsonObject, credits: number): { creditsUsed?: number } {
  const takesFractions = typeof origin !== "string" || !origin.startsWith("python-sdk");
  return takesFractions || Number.isInteger(credits) ? { creditsUsed: credits } : {};
}
