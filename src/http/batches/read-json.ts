import type { z } from "zod";
import { type BodyLimits, decodeBody, isLarge, parseBody, readBody, splitList } from "../../bodies/index.ts";
import { GatewayError } from "../../core/index.ts";
import type { Batches, MessageRequest } from "../../batches/index.ts";
import type { LargeBodies } from "../../calls/index.ts";
import type { MemoryBudget } from "../../streaming/index.ts";
import type { RouteCall } from "../route.ts";
import { messageBatchRequest, messageRequest } from "./schemas.ts";

/** Bytes of requests that are read in one step. */
const STEP_BYTES = 1024 * 1024;

/** The services that the routes of batches need. */
export interface BatchServices {
  batches: Batches;
  body: BodyLimits;
  memory: MemoryBudget;
  largeBodies: LargeBodies;
}

/** The services that read a body. */
type Reading = Pick<BatchServices, "body" | "memory" | "largeBodies">;

/** Reads a request's JSON body, and hands it on while its memory is counted. Large ones are parsed one after the other. */
export function withJson<Body>(
  call: RouteCall,
  services: Reading,
  { schema, use }: { schema: z.ZodType<Body>; use: (body: Body) => Promise<Response> },
): Promise<Response> {
  return withBytes(call, services, (bytes) => use(schema.parse(decodeBody(parseBody(bytes, schema, [])))));
}

/** The same for a batch of Messages, whose requests are read one by one, each with the bounds of a body of its own. */
export function withRequests(
  call: RouteCall,
  services: Reading,
  use: (body: { requests: readonly MessageRequest[]; webhook_url?: string | undefined }) => Promise<Response>,
): Promise<Response> {
  return withBytes(call, services, async (bytes) => {
    const { elements, rest } = splitList(bytes, "requests");
    if (elements.length === 0) throw new GatewayError("validation_failed", "requests: is empty", { param: "requests" });
    const { body: others } = parseBody(rest, messageBatchRequest.omit({ requests: true }), []);
    const requests: MessageRequest[] = [];
    let step = 0;
    for (const [index, element] of elements.entries()) {
      requests.push({ customId: requestIn(element, index), bytes: element });
      step += element.length;
      if (step < STEP_BYTES) continue;
      step = 0;
      await services.largeBodies.turn(call.principal.user);
    }
    return await use({ ...others, requests });
  });
}

async function withBytes(
  { request, principal }: RouteCall,
  { body: limits, memory, largeBodies }: Reading,
  use: (bytes: Uint8Array) => Promise<Response>,
): Promise<Response> {
  const share = memory.share();
  try {
    const bytes = await readBody(request, limits, share);
    if (isLarge(bytes.length)) await largeBodies.turn(principal.user);
    return await use(bytes);
  } finally {
    share.free();
  }
}

/** The id of a request that is valid. Throws 422 with its place. */
function requestIn(bytes: Uint8Array, index: number): string {
  try {
    return parseBody(bytes, messageRequest, ["params"]).body.custom_id;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const param = ["requests", index, ...(thrown.param === undefined ? [] : [thrown.param])].join(".");
    throw new GatewayError("validation_failed", `requests.${index}: ${thrown.message}`, { param });
  }
}

/** The caller of a request for batches. */
export function callerOf({ requestId, principal, request }: RouteCall) {
  return { requestId, principal, headers: request.headers };
}
