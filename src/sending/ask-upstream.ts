import { CallAborter } from "../core/index.ts";
import type { Ticker } from "../streaming/index.ts";
import { relayedHeaders } from "./headers.ts";
import { type SendDependencies, sendUpstream, type UpstreamCall } from "./send.ts";
import { CallWatchdog } from "./watchdog.ts";
import { readReply } from "./whole-answer.ts";

export interface AskDependencies extends SendDependencies {
  ticker: Ticker;
}

/** Whose question it is: headers that may go along, and a signal that says when nobody waits for the answer any more. */
export type AskingClient = Pick<Request, "headers" | "signal">;

/** What is asked; how it is sent follows from the rest. */
type Question = Pick<UpstreamCall, "target" | "method" | "subpath" | "body" | "pinnedKeyId">;

/**
 * Asks an upstream for what is free there, and relays its answer or its error as it is. Nothing is held or charged. Throws
 * as `sendUpstream` and `readReply` do.
 */
export async function askUpstream(deps: AskDependencies, client: AskingClient, question: Question): Promise<Response> {
  const { target } = question;
  const { ticker, send } = deps;
  const watchdog = new CallWatchdog({ ticker, abort: new CallAborter(), client, clientGoneGraceMs: 0 });
  try {
    const sent = await sendUpstream(deps, {
      ...question,
      accept: "application/json",
      clientHeaders: client.headers,
      passesThrough: true,
      watchdog,
    });
    const reply = sent.kind === "failed" ? sent : await readReply(sent, target, watchdog, send.idleMsMax);
    const headers = relayedHeaders(reply.headers, target.route.sandbox);
    const body = reply.kind === "failed" ? reply.body : reply.answers[0].bytes;
    return new Response(body, { status: reply.status, headers });
  } finally {
    watchdog.end();
  }
}
