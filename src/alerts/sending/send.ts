/** One attempt to send a message to a channel. */
import type { AlertChannel } from "../../config/index.ts";
import type { Fetch } from "../../core/index.ts";
import { signedHeaders } from "../../webhooks/index.ts";
import type { AlertMessage } from "./message.ts";
import { sendMail } from "./mail.ts";

/** How long an attempt may take. */
const ATTEMPT_MS_MAX = 15_000;

/** The receiver wants no more. */
const GONE = 410;

interface SendOptions {
  fetch: Fetch;
  /** In milliseconds since the epoch. */
  at: number;
  signal: AbortSignal;
}

/** Resolves if the receiver has taken the message, or wants none. Rejects otherwise; the reason contains no address. */
export async function sendMessage(channel: AlertChannel, message: AlertMessage, options: SendOptions): Promise<void> {
  if (channel.kind === "email") return sendMail(channel, message, ATTEMPT_MS_MAX);
  const { fetch, at, signal } = options;
  const isSigned = channel.kind === "webhook";
  const body = isSigned ? message.body : JSON.stringify({ text: `Tollgate. ${message.text}` });
  const headers = isSigned ? signedHeaders(message, [channel.secret], at) : { "content-type": "application/json" };
  const response = await fetch(channel.url, {
    method: "POST",
    headers,
    body,
    redirect: "manual",
    signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS_MAX)]),
  });
  await response.body?.cancel();
  if (!response.ok && response.status !== GONE) throw new Error(`status ${response.status}`);
}
