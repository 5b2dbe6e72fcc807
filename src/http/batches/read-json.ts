import type { z } from "zod";
import { type BodyLimits, decodeBody, parseBody, readBody } from "../../bodies/index.ts";
import type { Batches } from "../../batches/index.ts";
import { isLarge, type LargeBodies } from "../../calls/index.ts";
import type { MemoryBudget } from "../../streaming/index.ts";
import type { RouteCall } from "../route.ts";

/** The services that the routes of batches need. */
export interface BatchServices {
  batches: Batches;
  body: BodyLimits;
  memory: MemoryBudget;
  largeBodies: LargeBodies;
}

/** Reads a request's JSON body, and hands it on while its memory is counted. Large ones are parsed one after the other. */
export async function withJson<Body>(
  { request, principal }: RouteCall,
  { body: limits, memory, largeBodies }: Pick<BatchServices, "body" | "memory" | "largeBodies">,
  { schema, use }: { schema: z.ZodType<Body>; use: (body: Body) => Promise<Response> },
): Promise<Response> {
  const share = memory.share();
  try {
    const bytes = await readBody(request, limits, share);
    if (isLarge(bytes.length)) await largeBodies.turn(principal.user);
    return await use(schema.parse(decodeBody(parseBody(bytes, schema, []))));
  } finally {
    share.free();
  }
}

/** The caller of a request for batches. */
export function callerOf({ requestId, principal, request }: RouteCall) {
  return { requestId, principal, headers: request.headers };
}
