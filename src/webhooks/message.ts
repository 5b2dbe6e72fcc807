import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { type JsonObject, limits } from "../core/index.ts";

/** The job's kind, under which its handler is registered. */
export const WEBHOOK_JOB = "webhook";

type WebhookEventType =
  | "video.completed"
  | "video.failed"
  | "batch.completed"
  | "batch.failed"
  | "batch.expired"
  | "batch.cancelled"
  | "message_batch.ended"
  | "alert.opened"
  | "alert.closed";

export interface WebhookEvent {
  /** The same in each attempt; receivers recognise repeated messages by it. Letters, digits, `_` and `-`. */
  id: string;
  /** The user whose secret signs. */
  owner: string;
  url: string;
  type: WebhookEventType;
  data: JsonObject;
  /** When it happened, in milliseconds since the epoch. */
  at: number;
}

/** A message whose body and headers are those of Firecrawl's webhooks. */
export interface FirecrawlEvent extends Pick<WebhookEvent, "id" | "owner" | "url" | "at"> {
  body: JsonObject;
  /** Additional headers, which the caller has chosen. */
  headers: Readonly<Record<string, string>>;
}

const messageSchema = z.object({
  /** Absent: that of standardwebhooks.com. */
  signature: z.literal("firecrawl").optional(),
  /** Additional headers. */
  headers: z.record(z.string(), z.string()).optional(),
  id: z.string(),
  url: z.string(),
  body: z.string(),
  /** Failed attempts so far. */
  attempts: z.number(),
  /** How often its turn was put off since the last attempt. */
  deferrals: z.number(),
});

/** The stored data of a job. The body is stored as text, so that each attempt sends the same bytes. */
export type WebhookMessage = z.infer<typeof messageSchema>;

/** Throws a RangeError if the id or the data can't be sent. */
export function messageOf({ id, url, type, data, at }: WebhookEvent): WebhookMessage {
  // The signature separates its parts by dots.
  if (!/^[\w-]{1,128}$/.test(id)) throw new RangeError("a webhook's id has letters, digits, _ and - only");
  const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
  if (Buffer.byteLength(body) > limits.webhookBodyBytesMax) throw new RangeError("a webhook's data is too long");
  return { id, url, body, attempts: 0, deferrals: 0 };
}

/** Undefined if the body is too long. Throws a RangeError for an id that can't be sent. */
export function firecrawlMessageOf({ id, url, body, headers }: FirecrawlEvent): WebhookMessage | undefined {
  if (!/^[\w-]{1,128}$/.test(id)) throw new RangeError("a webhook's id has letters, digits, _ and - only");
  const text = JSON.stringify(body);
  if (Buffer.byteLength(text) > limits.webhookBodyBytesMax) return undefined;
  return { signature: "firecrawl", id, url, body: text, headers: { ...headers }, attempts: 0, deferrals: 0 };
}

/** Throws if the payload was written by an unknown version. */
export function readMessage(payload: JsonObject): WebhookMessage {
  return messageSchema.parse(payload);
}

/** The headers of one attempt: its time, and one signature by each secret; or those of Firecrawl. */
export function signedHeaders(
  message: Pick<WebhookMessage, "id" | "body" | "signature" | "headers">,
  secrets: readonly string[],
  at: number,
): Headers {
  const { id, body, signature, headers: chosen } = message;
  if (signature === "firecrawl") {
    const headers = new Headers(chosen);
    headers.set("content-type", "application/json");
    headers.set("user-agent", "Tollgate-Webhooks");
    // The header has room for one signature: the current secret's.
    const hmac = createHmac("sha256", secrets[0] ?? "")
      .update(body)
      .digest("hex");
    headers.set("x-firecrawl-signature", `sha256=${hmac}`);
    return headers;
  }
  const time = new Date(at);
  return new Headers({
    "content-type": "application/json",
    "user-agent": "Tollgate-Webhooks",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at / 1_000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(" "),
  });
}
