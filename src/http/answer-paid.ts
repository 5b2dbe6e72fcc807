import type { PaidAnswer, PaidRequest } from "../charges/index.ts";

/** An authenticated request of a route. */
interface PaidCall extends Pick<PaidRequest, "requestId" | "principal" | "modelOf"> {
  request: Request;
}

/** Answers an HTTP request by paid work. */
export function answerPaid(
  { requestId, principal, request, modelOf }: PaidCall,
  perform: (request: PaidRequest) => Promise<PaidAnswer>,
): Promise<PaidAnswer> {
  return perform({ requestId, principal, headers: request.headers, body: request, client: request, modelOf });
}
