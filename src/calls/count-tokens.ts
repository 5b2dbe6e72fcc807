import type { Principal } from "../auth/index.ts";
import { type BodyLimits, decodeBody, editBytes, parseBody, type ParsedBody, readBody } from "../bodies/index.ts";
import {
  hasTaggedSignature,
  countTokensRequest,
  estimateTokens,
  messagesCodec,
  messagesReferences,
  translations,
} from "../dialects/index.ts";
import type { ModelRouter } from "../routing/index.ts";
import { type AskDependencies, askUpstream } from "../sending/index.ts";
import type { StoredObjects } from "../stored-objects/index.ts";
import { isLarge, type LargeBodies } from "./large-bodies.ts";

export interface CountTokensDependencies {
  asking: AskDependencies;
  router: ModelRouter;
  body: BodyLimits;
  storedObjects: StoredObjects;
  largeBodies: LargeBodies;
}

/** An authenticated request of the route. */
export interface CountTokensCall {
  request: Request;
  principal: Principal;
}

/**
 * Counts the input tokens of a Messages call: by the upstream if it has such a route, else by an estimate from lengths.
 * Counting is free at the upstream, so nothing is held or charged.
 */
export async function countTokens(
  deps: CountTokensDependencies,
  { request, principal }: CountTokensCall,
): Promise<Response> {
  const memory = deps.asking.memory.share();
  try {
    const bytes = await readBody(request, deps.body, memory);
    if (isLarge(bytes.length)) await deps.largeBodies.turn();
    return await countIn(deps, { request, principal }, bytes);
  } finally {
    memory.free();
  }
}

async function countIn(
  deps: CountTokensDependencies,
  { request, principal }: CountTokensCall,
  bytes: Uint8Array,
): Promise<Response> {
  const parsed = parseBody(bytes, countTokensRequest, messagesCodec.measured);
  const target = deps.router.resolve(parsed.body.model, ["count_tokens", "messages", "chat"], principal);
  const counts = target.operation === target.route.provider.operations.count_tokens;
  // The upstream would refuse another upstream's signature.
  if (!counts || hasTaggedSignature(parsed)) return estimate(parsed);
  const { route } = target;
  const pinnedKeyId = await deps.storedObjects.authorize(messagesReferences(parsed.body), { principal, route });
  const model = { set: "model", value: JSON.stringify(target.model) };
  const body = editBytes(parsed.bytes, parsed.members, [model]);
  return askUpstream(deps.asking, request, { target, body, pinnedKeyId });
}

/** Such a body has no `max_tokens`, but the conversation model requires one. */
function estimate(parsed: ParsedBody<unknown>): Response {
  const conversation = translations.messages.readRequest({ max_tokens: 1, ...decodeBody(parsed) });
  return Response.json({ input_tokens: estimateTokens(conversation) });
}
