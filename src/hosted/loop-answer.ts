/** The answer of a loop for its client: whole, or as a stream. */
import { type PaidAnswer, StoredBody } from "../charges/index.ts";
import { parseObject } from "../core/index.ts";
import { type AnswerEvent, collectAnswer } from "../dialects/index.ts";
import { EVENT_HEADERS } from "../streaming/index.ts";
import type { LoopAnswer } from "./loop-parts.ts";
import { LoopStream } from "./loop-stream.ts";

/** The usage of the call itself, whose parts have their own. */
const nothing = { usage: {} };

export async function wholeLoop(parts: LoopAnswer): Promise<PaidAnswer> {
  const { running, loop, call, first, context, translation, kept } = parts;
  const events: AnswerEvent[] = [];
  for await (const some of loop.events(first)) events.push(...some);
  const { error } = loop;
  if (error !== undefined && events.at(-1)?.type === "error") throw error;
  const whole = translation.writeAnswer(collectAnswer(events), context);
  await kept?.(parseObject(whole) ?? {});
  const headers: Record<string, string> = { ...parts.headers, "content-type": "application/json" };
  const answer = { status: first.status, headers, body: Buffer.from(whole) };
  running.work.firstByte();
  await running.answer(answer, nothing, { others: call.spent, error: loop.error });
  return answer;
}

export function streamLoop(parts: LoopAnswer): PaidAnswer {
  const { running, first } = parts;
  const headers = { ...parts.headers, ...EVENT_HEADERS };
  const recorder = running.work.order.retry === undefined ? undefined : new StoredBody();
  const stream = new LoopStream({ ...parts, headers, recorder });
  return { status: first.status, headers, body: stream.readable };
}
