import { CallAborter } from "../core/index.ts";
import { relayedHeaders } from "./headers.ts";
import { Patience } from "./patience.ts";
import type { PipelineDependencies } from "./pipeline.ts";
import { readWholeAnswer } from "./relay-whole.ts";
import { sendUpstream, type UpstreamCall } from "./send.ts";

/** What is asked; how it is sent follows from the rest. */
type Question = Pick<UpstreamCall, "target" | "method" | "below" | "body">;

/**
 * Asks an upstream for what is free there, and relays its answer or its error as it is. Nothing is held or charged. Throws
 * as `sendUpstream` and `readWholeAnswer` do.
 */
export async function askUpstream(
  { environment, send, charges: { ticker } }: Pick<PipelineDependencies, "environment" | "charges" | "send">,
  client: Request,
  question: Question,
): Promise<Response> {
  const { route, operation } = question.target;
  const patience = new Patience({ ticker, abort: new CallAborter(), client, lingersMs: 0 });
  try {
    const answer = await sendUpstream(environment, send, {
      ...question,
      accept: "application/json",
      clientHeaders: client.headers,
      passesThrough: true,
      patience,
    });
    const headers = relayedHeaders(answer.ok ? answer.reply.headers : answer.headers, route.sandbox);
    if (!answer.ok) return new Response(answer.body, { status: answer.status, headers });
    const { bytes, text, failed } = await readWholeAnswer(answer.reply, operation, patience, send.idleMsMax);
    return new Response(failed ? route.keys.scrub(text) : bytes, { status: answer.reply.status, headers });
  } finally {
    patience.end();
  }
}
