/** OpenAI's events other than text generation: each has its name in a separate line, and in its data as well. */
import { errorBody, type GatewayError, type JsonObject } from "../core/index.ts";

export interface NamedEvent extends JsonObject {
  type: string;
}

export function namedEvent(event: NamedEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** OpenAI's SDKs throw on the member `error` (`docs/wire/openai.md`); its format contains no request id. */
export function errorEvent(error: GatewayError): string {
  return namedEvent({ type: "error", ...errorBody("openai", error, "") });
}
