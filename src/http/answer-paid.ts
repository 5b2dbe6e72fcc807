import type { PaidAnswer, PaidRequest } from "../charges/index.ts";

/** An authenticated request of a route. */
interface PaidCall extends Pick<PaidRequest, "requestId" | "principal" | "modelOf"> {
  request: Request;
  /** The prefix of the provider in whose group the request is. */
  provider?: string | undefined;
}

/** Answers an HTTP request by paid work. */
export function answerPaid(
  { requestId, principal, request, modelOf, provider }: PaidCall,
  perform: (request: PaidRequest) => Promise<PaidAnswer>,
): Promise<PaidAnswer> {
  return perform({
    requestId,
    principal,
    headers: request.headers,
    body: request,
    client: request,
    modelOf,
    isGrouped: provider !== undefined,
  });
}
