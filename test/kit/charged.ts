/** The charge of a call, in every place that reports it. */
import { expect } from "bun:test";
import OpenAI from "openai";
import type { Caller, Rig } from "./rig.ts";

/** A separate user, and the official SDK with its token, which makes one attempt. */
export async function newClient(rig: Rig): Promise<{ client: OpenAI; caller: Caller }> {
  const caller = await rig.caller();
  return { caller, client: new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 }) };
}

/** Nano-credits as they are written: 9 decimal places, without the zeros at the end. */
export function creditsText(nano: bigint): string {
  const digits = nano.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, "");
}

async function getJson({ gateway }: Rig, { token }: Caller, path: string): Promise<Record<string, unknown>> {
  const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

/** Waits until nothing is held, and fails unless it was this that was spent: in the ledger, and as the user sees it. */
export async function expectSpent(rig: Rig, caller: Caller, nano: bigint): Promise<void> {
  expect(await caller.closed()).toBe(nano);
  const { spend, held } = await getJson(rig, caller, "/v1/user/info");
  expect({ spend, held }).toEqual({ spend: Number(creditsText(nano)), held: 0 });
}

/** The part of an answer that identifies its call. */
type Answered = Pick<Response, "headers">;

/** The record of the call that was answered so. */
export function generationOf(rig: Rig, caller: Caller, { headers }: Answered): Promise<Record<string, unknown>> {
  return getJson(rig, caller, `/v1/generations/${headers.get("x-request-id")}`);
}

function bucketsIn({ usage }: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(Object.entries(usage as Record<string, number>).filter(([, units]) => units !== 0));
}

/** The buckets of a call's record that are not empty. */
export async function bucketsOf(rig: Rig, caller: Caller, answer: Answered): Promise<Record<string, number>> {
  return bucketsIn(await generationOf(rig, caller, answer));
}

/** The required cost and usage of a call: buckets that are not listed must be zero. */
export interface Charged {
  nano: bigint;
  usage: Record<string, number>;
  /** `complete` by default. */
  outcome?: string;
}

/** Checks a caller's spending, and the record of the call, for a user with a single call and this answer. */
export async function expectCharged(
  rig: Rig,
  caller: Caller,
  answer: Answered,
  { nano, usage, outcome = "complete" }: Charged,
): Promise<void> {
  await expectSpent(rig, caller, nano);
  const generation = await generationOf(rig, caller, answer);
  expect(generation).toMatchObject({ credits: Number(creditsText(nano)), outcome });
  expect(bucketsIn(generation)).toEqual(usage);
}
