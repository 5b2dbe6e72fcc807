/** The names that a request gives to its work: session, end user, tags. */
import type { ReceivedBody } from "../../bodies/index.ts";
import { clientRequestIdOf, endUserOf, namesTags, objectOf, sessionOf } from "../../core/index.ts";
import type { WorkDependencies } from "../dependencies.ts";
import { chargeMaxIn, MAX_CREDITS_HEADER } from "../max-credits.ts";
import type { WorkNames } from "../work-order.ts";
import type { PaidAnswer, PaidRequest, WorkPlan } from "./paid-request.ts";

interface RequestNames {
  headers: Headers;
  names: WorkNames;
  /** The tags of its headers that are none; undefined if all are. */
  dropped: string | undefined;
  /** Stores the tags' new values, once its work is held; undefined if there are none. */
  keepTags?: (() => Promise<void>) | undefined;
}

/** The names of a request; those of the work that it is a part of, if that is so. */
export function namesOf(
  { tags }: Pick<WorkDependencies, "tags">,
  { principal, headers, names: given }: PaidRequest,
  received: ReceivedBody<unknown>,
): RequestNames {
  const clientRequestId = clientRequestIdOf(headers);
  if (given !== undefined) {
    const { session, endUser, tags: own } = given;
    return { headers, names: { session, clientRequestId, endUser, tags: own }, dropped: undefined };
  }
  const body = objectOf(received.body);
  const isTagged = principal.tags !== undefined || namesTags(headers);
  const tagged = isTagged ? tags?.of(principal, headers, body) : undefined;
  const names = { session: sessionOf(headers), clientRequestId, endUser: endUserOf(headers, body), tags: tagged?.tags };
  return { headers, names, dropped: tagged?.dropped, keepTags: tagged?.keep };
}

/** The plan with these names, and with the limit of its costs that a header sets. Throws 422. */
export function withNames<Plan extends WorkPlan>(
  plan: Plan,
  { headers, names }: RequestNames,
  { traceOf }: Pick<WorkDependencies, "traceOf">,
): Plan {
  const { order } = plan;
  order.session = names.session;
  order.clientRequestId = names.clientRequestId;
  order.endUser = names.endUser;
  order.tags = names.tags;
  if (traceOf !== undefined) order.trace = traceOf(headers);
  if (headers.has(MAX_CREDITS_HEADER)) order.chargeMax = chargeMaxIn(headers);
  return plan;
}

/** The answer, with the tags of its request that were dropped. */
export function withDropped(answer: PaidAnswer, { dropped }: RequestNames): PaidAnswer {
  if (dropped !== undefined) answer.headers["x-tollgate-dropped-tags"] = dropped;
  return answer;
}
