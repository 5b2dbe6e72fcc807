import { editBytes, objectOf } from "../core/index.ts";
import { carriesSeal, countTokensRequest, estimateTokens, messagesCodec, translations } from "../dialects/index.ts";
import { askUpstream } from "./ask-upstream.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import type { PipelineDependencies } from "./pipeline.ts";
import { readBody } from "./read-body.ts";
import type { IncomingCall } from "./running-call.ts";

export type CountTokensDependencies = Pick<
  PipelineDependencies,
  "environment" | "router" | "charges" | "send" | "body"
>;

/**
 * Counts what a Messages call would put in: by the upstream where it has such a route, else by an estimate from lengths.
 * It is free at the upstream, so nothing is held or charged.
 */
export async function countTokens(deps: CountTokensDependencies, incoming: IncomingCall): Promise<Response> {
  const bytes = await readBody(incoming.request, deps.body);
  const parsed = parseBody(bytes, countTokensRequest, messagesCodec.measured);
  const target = deps.router.resolve(parsed.body.model, ["count_tokens", "messages", "chat"], incoming.principal);
  const counts = target.operation === target.route.provider.operations.count_tokens;
  // A signature of another upstream would be refused there.
  if (!counts || carriesSeal(parsed)) return estimate(parsed);
  const model = { set: "model", value: JSON.stringify(target.model) };
  const body = editBytes(parsed.bytes, parsed.members, [model]);
  return askUpstream(deps, incoming.request, { target, body });
}

/** `max_tokens` is no part of such a body; the conversation that it is read as has one. */
function estimate({ bytes }: ParsedBody<unknown>): Response {
  const body: unknown = JSON.parse(bytes.toString("utf8"));
  const conversation = translations.messages.readRequest({ max_tokens: 1, ...objectOf(body) });
  return Response.json({ input_tokens: estimateTokens(conversation) });
}
