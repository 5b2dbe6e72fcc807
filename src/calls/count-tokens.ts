import { bytewise, editBytes, objectOf } from "../core/index.ts";
import { carriesSeal, countTokensRequest, estimateTokens, messagesDialect, translations } from "../dialects/index.ts";
import { relayedHeaders } from "./headers.ts";
import { parseBody, type ParsedBody } from "./parse-body.ts";
import { Patience } from "./patience.ts";
import type { PipelineDependencies } from "./pipeline.ts";
import { readBody } from "./read-body.ts";
import { readWholeAnswer } from "./relay-whole.ts";
import type { IncomingCall } from "./running-call.ts";
import { sendUpstream } from "./send.ts";
import type { Target } from "../routing/index.ts";

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
  const parsed = parseBody(bytes, countTokensRequest, messagesDialect.measured);
  const target = deps.router.resolve(parsed.body.model, ["count_tokens", "messages", "chat"], incoming.principal);
  const counts = target.operation === target.route.provider.operations.count_tokens;
  // A signature of another upstream would be refused there.
  return counts && !carriesSeal(parsed.text) ? askUpstream(deps, incoming, target, parsed) : estimate(parsed);
}

/** `max_tokens` is no part of such a body; the conversation that it is read as has one. */
function estimate({ bytes }: ParsedBody<unknown>): Response {
  const body: unknown = JSON.parse(bytes.toString("utf8"));
  const conversation = translations.messages.readRequest({ max_tokens: 1, ...objectOf(body) });
  return Response.json({ input_tokens: estimateTokens(conversation) });
}

async function askUpstream(
  { environment, send, charges: { ticker } }: CountTokensDependencies,
  { request }: IncomingCall,
  target: Target,
  { bytes, text, members }: ParsedBody<unknown>,
): Promise<Response> {
  const patience = new Patience({ ticker, abort: new AbortController(), client: request, lingersMs: 0 });
  try {
    const answer = await sendUpstream(environment, send, {
      target,
      body: editBytes(bytes, text, members, [{ set: "model", value: bytewise(JSON.stringify(target.model)) }]),
      streamed: false,
      clientHeaders: request.headers,
      passesThrough: true,
      patience,
    });
    const { sandbox } = target.route;
    if (!answer.ok) {
      return new Response(answer.body, { status: answer.status, headers: relayedHeaders(answer.headers, sandbox) });
    }
    const { status, headers } = answer.response;
    const whole = await readWholeAnswer(answer.response, target.operation, patience, send.idleMsMax);
    const shown = whole.failed ? target.route.keys.scrub(whole.text) : whole.bytes;
    return new Response(shown, { status, headers: relayedHeaders(headers, sandbox) });
  } finally {
    patience.end();
  }
}
