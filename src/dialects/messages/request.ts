import { z } from "zod";
import { modelId, opaqueText, wholeNumber } from "../../bodies/index.ts";

/**
 * The body of a Messages call, as far as the gateway must understand it to bound and route it. Everything else passes
 * unread if the upstream uses the same dialect; otherwise `readMessagesRequest` reads all of it.
 */
const block = z.looseObject({ type: z.string() });

const content = z.union([opaqueText, z.array(block)]);

const message = z.looseObject({ role: z.string().min(1), content });

export const messagesRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as anthropic/claude-haiku-4-5."),
    max_tokens: wholeNumber(0).describe("0 only fills the upstream's prompt cache."),
    messages: z.array(message).min(1),
    system: content.nullish(),
    stream: z.boolean().nullish(),
  })
  .meta({ id: "MessagesRequest" });

/** The counted body: a call without its output options. */
export const countTokensRequest = messagesRequest
  .omit({ max_tokens: true, stream: true })
  .meta({ id: "CountTokensRequest" });

export type CountTokensRequest = z.output<typeof countTokensRequest>;
export type MessagesRequest = z.output<typeof messagesRequest>;
