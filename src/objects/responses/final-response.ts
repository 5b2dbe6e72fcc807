import { type JsonObject, objectOf } from "../../core/index.ts";

/** The events that end a complete stream of Responses, and contain the response. */
const LAST_EVENTS: readonly unknown[] = ["response.completed", "response.incomplete"];

/** A last event contains one of these words. */
export const finalResponseWords: readonly Buffer[] = LAST_EVENTS.map((name) => Buffer.from(`"${String(name)}"`));

/** The response in the last event of a stream; undefined for any other event. */
export function finalResponseOf(event: JsonObject): JsonObject | undefined {
  return LAST_EVENTS.includes(event["type"]) ? objectOf(event["response"]) : undefined;
}
