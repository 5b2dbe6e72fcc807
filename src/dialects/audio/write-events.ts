import { errorBody, type GatewayError, type JsonObject } from "../../core/index.ts";

/** One of OpenAI's named events. */
export function namedEvent(event: JsonObject & { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The member `error` is what OpenAI's SDKs throw on (`wire/openai`). */
export function errorEvent(error: GatewayError): string {
  return namedEvent({ type: "error", ...errorBody("openai", error, "") });
}
