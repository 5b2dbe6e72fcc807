import { z } from "zod";
import type { AlertsConfig } from "../../config/index.ts";
import type { JsonObject } from "../../core/index.ts";
import type { NewJob } from "../../jobs/index.ts";
import type { Alert, AlertEvent } from "../alert.ts";
import { describeAlert } from "../rules.ts";

/** The kind of all jobs of alerts: one request for due jobs finds them. */
export const ALERT_JOB = "alert";

/** The stored data of a message. The body is stored as text, so that each attempt sends the same bytes. */
const messageSchema = z.object({
  task: z.literal("send"),
  /** The name of its channel: an address may contain a secret, and is not stored. */
  channel: z.string(),
  /** The same in each attempt; receivers recognise repeated messages by it. */
  id: z.string(),
  /** JSON, as a webhook gets it. */
  body: z.string(),
  /** One line, for people. */
  text: z.string(),
  /** Failed attempts so far. */
  attempts: z.number(),
});

export type AlertMessage = z.infer<typeof messageSchema>;

/** Undefined if the payload is none. */
export function readAlertMessage(payload: JsonObject): AlertMessage | undefined {
  return messageSchema.safeParse(payload).data;
}

/** The messages of an event: one for each channel of its rule. */
export function messageJobs(
  alert: Alert,
  event: AlertEvent,
  { config, at }: { config: AlertsConfig; at: number },
): NewJob[] {
  const { rule, account = null, period = null, threshold = null, value, node } = alert;
  const data = { rule, account, period, threshold, value, node };
  const body = JSON.stringify({ type: `alert.${event}`, timestamp: new Date(at).toISOString(), data });
  const text = `${event === "opened" ? "Alert" : "Over"}: ${describeAlert(alert)}`;
  const id = `alert_${alert.id}_${event}`;
  const chosen = config.rules[rule]?.channels ?? Object.keys(config.channels);
  return chosen.map((channel) => ({
    id: `${id}:${channel}`,
    kind: ALERT_JOB,
    // Places are shared by owner: a channel that does not answer delays no other one.
    owner: `channel:${channel}`,
    payload: { task: "send", channel, id, body, text, attempts: 0 } satisfies AlertMessage,
    runAt: at,
    createdAt: at,
  }));
}
