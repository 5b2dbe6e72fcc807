/** What a call was charged, in every place that tells it. */
import { expect } from "bun:test";
import OpenAI from "openai";
import type { Caller, Rig } from "./rig.ts";

/** A user of its own who calls by the official SDK, which makes one attempt. */
export interface Buyer {
  client: OpenAI;
  caller: Caller;
}

export async function newBuyer(rig: Rig): Promise<Buyer> {
  const caller = await rig.caller();
  return { caller, client: new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 }) };
}

/** What a call must have cost and used: buckets that are not named must be zero. */
export interface Charged {
  nano: bigint;
  usage: Record<string, number>;
  /** `complete`, where it is not said. */
  outcome?: string;
}

/** Nano-credits as they are written: 9 decimal places, without the zeros at the end. */
export function creditsText(nano: bigint): string {
  const digits = nano.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
}

/** Checks the ledger, /v1/user/info and /v1/generations for a caller whose only call was the one with this request id. */
export async function expectCharged(
  { gateway }: Pick<Rig, "gateway">,
  caller: Caller,
  requestId: string | null,
  { nano, usage, outcome = "complete" }: Charged,
): Promise<void> {
  expect(await caller.closed()).toBe(nano);
  const credits = Number(creditsText(nano));
  const headers = { authorization: `Bearer ${caller.token}` };
  const get = async (path: string) => (await (await fetch(gateway.url + path, { headers })).json()) as object;
  expect(await get("/v1/user/info")).toMatchObject({ spend: credits, held: 0 });
  const generation = (await get(`/v1/generations/${requestId}`)) as { usage: Record<string, number> };
  expect(generation).toMatchObject({ credits, outcome });
  expect(Object.fromEntries(Object.entries(generation.usage).filter(([, count]) => count !== 0))).toEqual(usage);
}
