/** The parts of a loop that are paid work of their own: searches, pages and tools of servers. */
import type { PaidAnswer } from "../../charges/index.ts";
import { type GatewayError, type JsonObject, type Nano, parseCredits, parseObject } from "../../core/index.ts";

/** Failures of the call itself, not of a tool. */
export const endsLoop: ReadonlySet<GatewayError["code"]> = new Set([
  "insufficient_credits",
  "max_credits_exceeded",
  "shutting_down",
  "storage_unavailable",
]);

/** The JSON object of a part's answer, undefined if it is none, and its charge. */
export async function readPart({ headers, body }: PaidAnswer): Promise<{ body: JsonObject | undefined; cost: Nano }> {
  const text = await new Response(body).text();
  return { body: parseObject(text), cost: parseCredits(headers["x-tollgate-credits"] ?? "0") };
}
