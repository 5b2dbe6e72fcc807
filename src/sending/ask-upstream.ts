import { CallAborter } from "../core/index.ts";
import type { MemoryBudget, Ticker } from "../streaming/index.ts";
import { relayedErrorHeaders, relayedHeaders } from "./headers.ts";
import type { FailedReply, WholeReply } from "./reply.ts";
import { type SendDependencies, sendUpstream, type UpstreamCall } from "./send.ts";
import { CallWatchdog } from "../charges/index.ts";
import { readReply } from "./whole-answer.ts";

export interface AskDependencies extends SendDependencies {
  ticker: Ticker;
  memory: MemoryBudget;
}

/** The client of the request: its forwardable headers, and a signal for when it no longer waits for the answer. */
export type AskingClient = Pick<Request, "headers" | "signal">;

/** The request; the remaining parameters of sending follow from it. */
export type FreeRequest = Pick<UpstreamCall, "target" | "method" | "subpath" | "body" | "pinnedKeyId"> &
  // Most are questions, or delete something.
  Partial<Pick<UpstreamCall, "repeats">>;

/**
 * Sends a request that is free at the upstream, and relays its answer or its error unchanged. Nothing is held or
 * charged. Throws as `sendUpstream` and `readReply` do.
 */
export async function askUpstream(
  deps: AskDependencies,
  client: AskingClient,
  question: FreeRequest,
): Promise<Response> {
  return answerWith(await askForReply(deps, client, question), question);
}

/** Sends the request, and reads the whole answer. Throws as `sendUpstream` and `readReply` do. */
export async function askForReply(
  deps: AskDependencies,
  client: AskingClient,
  question: FreeRequest,
): Promise<WholeReply | FailedReply> {
  const { ticker, send } = deps;
  const memory = deps.memory.share();
  const watchdog = new CallWatchdog({ ticker, abort: new CallAborter(), client, clientGoneGraceMs: 0 });
  try {
    const sent = await sendUpstream(deps, {
      repeats: "freely",
      ...question,
      accept: "application/json",
      clientHeaders: client.headers,
      passesThrough: true,
      watchdog,
    });
    if (sent.kind === "failed") return sent;
    return await readReply(sent, question.target, { watchdog, idleMsMax: send.idleMsMax, memory });
  } finally {
    memory.free();
    watchdog.end();
  }
}

/** The answer to a client from a reply: its own bytes, or others in their place. */
export function answerWith(
  reply: WholeReply | FailedReply,
  { target }: Pick<FreeRequest, "target">,
  body: string | Uint8Array = reply.kind === "failed" ? reply.body : reply.answers[0].bytes,
): Response {
  const relay = reply.kind === "failed" ? relayedErrorHeaders : relayedHeaders;
  return new Response(body, { status: reply.status, headers: relay(reply.headers, target.route) });
}
