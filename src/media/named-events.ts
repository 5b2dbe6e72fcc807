/** OpenAI's events where they are no text generation: each has its name in a line of its own, and in its data as well. */
import { errorBody, type GatewayError, type JsonObject } from "../core/index.ts";

export interface NamedEvent extends JsonObject {
  type: string;
}

export function namedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The member `error` is what OpenAI's SDKs throw on (`docs/wire/openai.md`); its shape names no request. */
export function errorEvent(error: GatewayError): string {
  return namedEvent({ type: "error", ...errorBody("openai", error, "") });
}
