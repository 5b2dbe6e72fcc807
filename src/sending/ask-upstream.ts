import { CallAborter } from "../core/index.ts";
import type { MemoryBudget, Ticker } from "../streaming/index.ts";
import { relayedHeaders } from "./headers.ts";
import { type SendDependencies, sendUpstream, type UpstreamCall } from "./send.ts";
import { CallWatchdog } from "./watchdog.ts";
import { readReply } from "./whole-answer.ts";

export interface AskDependencies extends SendDependencies {
  ticker: Ticker;
  memory: MemoryBudget;
}

/** The client of the request: its forwardable headers, and a signal for when it no longer waits for the answer. */
export type AskingClient = Pick<Request, "headers" | "signal">;

/** The request; the remaining parameters of sending follow from it. */
type Question = Pick<UpstreamCall, "target" | "method" | "subpath" | "body" | "pinnedKeyId">;

/**
 * Sends a request that is free at the upstream, and relays its answer or its error unchanged. Nothing is held or
 * charged. Throws as `sendUpstream` and `readReply` do.
 */
export async function askUpstream(deps: AskDependencies, client: AskingClient, question: Question): Promise<Response> {
  const { target } = question;
  const { ticker, send } = deps;
  const memory = deps.memory.share();
  const watchdog = new CallWatchdog({ ticker, abort: new CallAborter(), client, clientGoneGraceMs: 0 });
  try {
    const sent = await sendUpstream(deps, {
      ...question,
      accept: "application/json",
      clientHeaders: client.headers,
      passesThrough: true,
      watchdog,
    });
    const reply =
      sent.kind === "failed" ? sent : await readReply(sent, target, { watchdog, idleMsMax: send.idleMsMax, memory });
    const headers = relayedHeaders(reply.headers, target.route.sandbox);
    const body = reply.kind === "failed" ? reply.body : reply.answers[0].bytes;
    return new Response(body, { status: reply.status, headers });
  } finally {
    memory.free();
    watchdog.end();
  }
}
