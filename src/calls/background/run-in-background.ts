/** A call whose response goes on after its request: run by this process, or by the upstream, whose answer says so. */
import type { PaidAnswer, RunningWork, StoredBody } from "../../charges/index.ts";
import type { JsonObject } from "../../core/index.ts";
import type { WholeReply } from "../../sending/index.ts";
import { headersFor } from "../build-response.ts";
import type { BackgroundPlan, CallPlan } from "../plan-call.ts";

const nothing = { get: () => null };

/** Runs the call, without its client from now on. Resolves with the answer of the request. */
export function runInBackground(
  running: RunningWork,
  { target, targets }: Pick<CallPlan, "target" | "targets">,
  {
    service,
    record,
    queued,
    isStreamed,
    perform,
  }: Omit<BackgroundPlan, "isNative"> & { perform: () => Promise<PaidAnswer> },
): Promise<PaidAnswer> {
  const client = new AbortController();
  running.detach(client);
  return service.begin({
    running,
    record,
    // Another target may name it.
    queued: targets === undefined ? queued : undefined,
    isStreamed,
    headers: () => headersFor(running, target, nothing),
    answering: performDetached(running, perform),
    abort: running.watchdog.abort,
    leave: () => client.abort(),
  });
}

/**
 * The answer for the retry key of a response that has ended. One that was kept at the beginning stays; a short response may have ended
 * before.
 */
export function answerAtEnd(
  { order, background }: CallPlan,
  response: JsonObject | undefined,
): { headers: Record<string, string>; body: StoredBody } | undefined {
  if (background === undefined || order.retry === undefined || response === undefined) return undefined;
  return background.service.answerOf({ ...response, background: true }, background.isStreamed);
}

async function performDetached(running: RunningWork, perform: () => Promise<PaidAnswer>): Promise<PaidAnswer> {
  try {
    return await perform();
  } catch (thrown) {
    await running.fail(thrown).catch(() => undefined);
    throw thrown;
  } finally {
    running.watchdog.end();
  }
}

/** Whether the answer is a response that its upstream runs. */
export function isLeftToUpstream({ isNative }: BackgroundPlan, { answers }: WholeReply): boolean {
  const { status } = answers[0].answer;
  return isNative && (status === "queued" || status === "in_progress");
}

/** Leaves the work to a job, which follows the response. */
export async function leaveToUpstream(
  running: RunningWork,
  { target }: CallPlan,
  { service, record }: BackgroundPlan,
  { status, headers, answers, keyId }: WholeReply,
): Promise<PaidAnswer> {
  const { answer: response, bytes } = answers[0];
  await service.adopt({ running, record, keyId, response });
  return { status, headers: { ...headersFor(running, target, headers), "x-tollgate-credits": "0" }, body: bytes };
}
