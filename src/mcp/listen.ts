/** `subscriptions/listen`: a stream that stays open until the client closes it, or the server stops. */
import { listOf, objectOf } from "../core/index.ts";
import { notificationText, resultText } from "./json-rpc.ts";
import { type McpCall, requireTasks } from "./methods.ts";
import type { FinishedAnswer } from "./outgoing.ts";
import { subscriptionKey } from "./revisions.ts";

/**
 * Acknowledges the subset of changes that is sent, of which there is none: clients read lists again by themselves.
 * Resolves when the stream is to end.
 */
export async function listen(
  { id, era, params, outgoing, signal }: McpCall,
  stopped: Promise<void>,
): Promise<FinishedAnswer> {
  if (listOf(objectOf(params["notifications"])?.["taskIds"]).length > 0) requireTasks(era);
  const meta = { [subscriptionKey]: id };
  outgoing.notify(notificationText("notifications/subscriptions/acknowledged", { _meta: meta, notifications: {} }));
  const closed = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  await Promise.race([closed, stopped]);
  return { text: resultText(id, JSON.stringify({ resultType: "complete", _meta: meta })) };
}
