/**
 * A response that its upstream runs in the background by itself. Its work is parked with a job, which asks for the response until it
 * has ended: a process that dies loses nothing.
 */
import { abandonedUsage, charged, type ParkedWork, resolveUsage, resumeWork } from "../../charges/index.ts";
import { GatewayError, isStorableId, type JsonObject, limits, parseObject } from "../../core/index.ts";
import { outputBytesIn, responsesCodec } from "../../dialects/index.ts";
import type { Job, JobResult } from "../../jobs/index.ts";
import type { Target, UpstreamRoute } from "../../routing/index.ts";
import { askForReply, type FreeRequest } from "../../sending/index.ts";
import type { BackgroundDependencies } from "./dependencies.ts";
import { endResponse, failed } from "./end-response.ts";
import type { BackgroundKey, BackgroundResponse } from "./store.ts";

/** The pause between two questions: a tenth of the response's age, within these. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 10_000;

/** How long a hold outlives the hour of its response, within which the upstream must answer. */
export const OVERDUE_MS_MAX = 10 * 60_000;

/** What the job of such a response contains. */
interface NativePayload {
  parked: ParkedWork;
  keyId: string;
}

/** What the row of any response's job contains. */
export interface BackgroundPayload extends BackgroundKey {
  /** Absent for a response that a process of the gateway runs. */
  native?: NativePayload;
  [member: string]: unknown;
}

const noHeaders = new Headers();
const nobody = new AbortController().signal;

/** Whether a response has not ended. */
const isRunning = ({ status }: JsonObject): boolean => status === "queued" || status === "in_progress";

/** The upstream's own events of the response are not read: its beginning is the first one, its end the second. */
const NATIVE_LAST = 1;

interface Native {
  record: BackgroundResponse;
  native: NativePayload;
}

/** One look at a response, whose job must be leased by this process. May be repeated. Rejects if the upstream gives no answer. */
export async function followNative(
  deps: BackgroundDependencies,
  { payload }: Pick<Job, "payload">,
  signal?: AbortSignal,
): Promise<JobResult> {
  const { id, owner, native } = payload as BackgroundPayload;
  const at = deps.work.clock();
  const record = await deps.background.find({ id, owner }, at);
  if (record === undefined || record.endedAt !== undefined || native === undefined) return { done: true };
  const hourEnd = record.createdAt + limits.backgroundMsMax;
  if (at >= hourEnd + OVERDUE_MS_MAX) {
    // Its hold has expired, and was charged.
    const error = { code: "server_error", message: "The provider did not end this response in time." };
    await endResponse(deps, record, { response: failed(record.response, error), number: NATIVE_LAST });
    return { done: true };
  }
  const isOverdue = at >= hourEnd;
  const question = record.isCancelled || isOverdue ? cancelOf(id) : lookUpOf(id);
  const response = await askNative(deps, { record, native }, { ...question, signal });
  if (!isRunning(response)) {
    await endNative(deps, { record, native }, response);
    return { done: true };
  }
  await deps.background.update(record, response);
  return { again: payload, afterMs: Math.min(Math.max((at - record.createdAt) / 10, PAUSE_MS_MIN), PAUSE_MS_MAX) };
}

const subpathOf = (id: string): string => `/${encodeURIComponent(id)}`;
const lookUpOf = (id: string) => ({ method: "GET", subpath: subpathOf(id) }) as const;
const cancelOf = (id: string) => ({ subpath: `${subpathOf(id)}/cancel` }) as const;

/** The response as its upstream has it; as failed if the upstream does not know it any more. */
async function askNative(
  { asking, router }: BackgroundDependencies,
  { record, native }: Native,
  { signal = nobody, ...question }: Pick<FreeRequest, "method" | "subpath"> & { signal?: AbortSignal | undefined },
): Promise<JsonObject> {
  const target = targetOf(router.routes, record);
  const reply = await askForReply(
    asking,
    { headers: noHeaders, signal },
    { target, pinnedKeyId: native.keyId, ...question },
  );
  const text = reply.kind === "failed" ? reply.body : reply.answers[0].text;
  if (reply.status === 404) {
    return failed(record.response, {
      code: "not_found",
      message: "The provider does not know this response any more.",
    });
  }
  const response = reply.status < 300 ? parseObject(text) : undefined;
  if (response?.["id"] !== record.id) throw new Error(`${record.provider} answered ${reply.status}`);
  return { ...response, background: true };
}

function targetOf(
  routes: readonly UpstreamRoute[],
  { provider }: BackgroundResponse,
): Pick<Target, "route" | "operation"> {
  const route = routes.find(({ prefix }) => prefix === provider);
  const operation = route?.provider.operations.responses;
  if (route !== undefined && operation !== undefined && route.requiredVariable === undefined)
    return { route, operation };
  throw new Error(`the provider ${provider} of a response in the background is not routed any more`);
}

/** Charges, then stores the end. */
async function endNative(
  deps: BackgroundDependencies,
  { record, native }: Native,
  response: JsonObject,
): Promise<void> {
  const { work: working, storedObjects, router } = deps;
  const { route, operation } = targetOf(router.routes, record);
  const { parked, keyId } = native;
  const work = resumeWork(working, parked);
  const { status } = response;
  const usage = operation.readUsage(response);
  const isComplete = status === "completed" || status === "incomplete";
  if (isComplete) {
    const outputBytes = (): number => outputBytesIn.responses(JSON.stringify(response));
    const observed = resolveUsage(work, { upstream: usage, outputBytes });
    await charged(work, { status: 200, outcome: "complete", observed });
  } else if (status === "cancelled") {
    const observed = usage ?? abandonedUsage(work, working.clock() - record.createdAt);
    await charged(work, { status: 200, outcome: "abandoned", observed });
  } else {
    const error = new GatewayError("upstream_interrupted", "The upstream failed to make the response.");
    await charged(work, { status: 200, outcome: "failed", unbilled: usage, error });
  }
  const created = responsesCodec.objects.created({ model: record.model, input: [] });
  const objects = created?.read(response).filter(({ id }) => isStorableId(id)) ?? [];
  const kept = { keyId, ttlMs: limits.responseTtlMs };
  await storedObjects.record(objects, { principal: { user: record.owner }, route }, kept);
  await endResponse(deps, record, { response, number: NATIVE_LAST, keyId });
}
