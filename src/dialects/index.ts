import type { Dialect } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import type { DialectTranslation } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";

export type { TextCodec } from "./codec.ts";
export { chatCodec, chatRequest } from "./chat/index.ts";
export { hasTaggedSignature, type ClientContext, estimateTokens, type UpstreamContext } from "./conversation/index.ts";
export { countTokensRequest, messagesCodec, messagesReferences, messagesRequest } from "./messages/index.ts";
export { inputItems, referencedItems, responsesCodec, responsesRequest } from "./responses/index.ts";
export { streamOfAnswer, translateStream } from "./translated-stream.ts";

/** Each dialect, to and from the conversation model. */
export const translations: Readonly<Record<Dialect, DialectTranslation>> = {
  chat: chatTranslation,
  messages: messagesTranslation,
  responses: responsesTranslation,
};
export { readOpenaiFailure, writeOpenaiError } from "./openai-failures.ts";
