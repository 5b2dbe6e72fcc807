import type { PaidAnswer, PaidRequest } from "../charges/index.ts";

/** An authenticated request of a route. */
interface PaidCall extends Pick<PaidRequest, "requestId" | "principal"> {
  request: Request;
}

/** Answers an HTTP request by paid work. */
export async function answerPaid(
  { requestId, principal, request }: PaidCall,
  perform: (request: PaidRequest) => Promise<PaidAnswer>,
): Promise<Response> {
  const asked = { requestId, principal, headers: request.headers, body: request, client: request };
  const { status, headers, body } = await perform(asked);
  return new Response(body, { status, headers });
}
