/**
 * A server of 2025 may close the stream of an answer before its end, or the connection may break. The rest of the stream is read again
 * behind its last event, as often and as late as the server wants, within bounds. The request itself is never sent again.
 */
import { type CallSignal, GatewayError, type JsonObject, type UpstreamReply } from "../../core/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import { tooLate } from "./ask-server.ts";
import { isEventStream, readMessages, type MessageReading, type StreamPosition } from "./read-messages.ts";

/** How often one answer is read on. */
const RESUMES_MAX = 200;

/** Attempts one after the other that the server does not answer. */
const ATTEMPTS_MAX = 3;

/** Before the next attempt, unless the server names a time; longer after streams without events. */
const PAUSE_MS = 1_000;
const PAUSE_MS_MIN = 100;
const DOUBLINGS_MAX = 6;

export interface ResumeOptions {
  /** For messages: the name of the server. */
  name: string;
  ticker: Ticker;
  signal: CallSignal;
  /** The time that the server has left. */
  leftMs: () => number;
  /** Asks for the messages behind an event. */
  reopen: (eventId: string) => Promise<UpstreamReply>;
}

/** The response to a request; undefined if there is none. Rejects with a `GatewayError`, or as a connection fails whose stream cannot be read on. */
export async function readResumed(
  reply: UpstreamReply,
  reading: MessageReading,
  options: ResumeOptions,
): Promise<JsonObject | undefined> {
  const position: StreamPosition = { eventId: undefined, retryMs: undefined, bytes: 0, events: 0 };
  let part = await readPart(reply, reading, position);
  let empty = 0;
  for (let resumes = 0; part.message === undefined; resumes += 1) {
    const { eventId, events } = position;
    if (options.signal.aborted) throw options.signal.reason;
    if (eventId === undefined || resumes >= RESUMES_MAX) {
      if (part.failure !== undefined) throw part.failure;
      return undefined;
    }
    const next = await reopened(eventId, pauseAfter(position, empty), options);
    if (next === undefined) return undefined;
    part = await readPart(next, reading, position);
    empty = position.events > events ? 0 : empty + 1;
  }
  return part.message;
}

function pauseAfter({ retryMs = PAUSE_MS }: StreamPosition, empty: number): number {
  return Math.max(retryMs, PAUSE_MS_MIN * 2 ** Math.min(empty, DOUBLINGS_MAX));
}

/** The stream behind an event, after a pause; undefined if the server refuses it, or cannot be reached several times. */
async function reopened(
  eventId: string,
  pauseMs: number,
  { name, ticker, signal, leftMs, reopen }: ResumeOptions,
): Promise<UpstreamReply | undefined> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
    // Earlier than the server permits would be wrong, and later nobody waits.
    if (pauseMs >= leftMs()) throw tooLate(name);
    await pause(ticker, pauseMs, signal);
    const reply = await reopen(eventId).catch((thrown: unknown) => {
      if (signal.aborted || thrown instanceof GatewayError) throw thrown;
      return undefined;
    });
    if (reply === undefined) continue;
    if (isEventStream(reply) && reply.status === 200) return reply;
    reply.body.cancel();
    if (reply.status < 500) return undefined;
  }
  return undefined;
}

/** A stream that breaks may be read on; an answer that is too long may not. */
async function readPart(
  reply: UpstreamReply,
  reading: MessageReading,
  position: StreamPosition,
): Promise<{ message: JsonObject | undefined; failure: Error | undefined }> {
  try {
    return { message: await readMessages(reply, { ...reading, position }), failure: undefined };
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    return { message: undefined, failure: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
}

function pause(ticker: Ticker, milliseconds: number, signal: CallSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stopTimer = ticker.after(milliseconds, resolve);
  const onAbort = {
    handleEvent: (): void => {
      stopTimer();
      reject(signal.reason);
    },
  };
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort.handleEvent();
  return promise.finally(() => signal.removeEventListener("abort", onAbort));
}
