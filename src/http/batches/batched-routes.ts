/** The routes whose calls a batch may contain. */
import type { ChargeablePath } from "../chargeable.ts";
import { chatCompletionsRoute } from "../chat/chat-completions.ts";
import { messagesRoute } from "../chat/messages.ts";
import { completionsRoute } from "../completions/completions.ts";
import { embeddingsRoute } from "../embeddings/embeddings.ts";
import { imageEditsRoute } from "../images/edits.ts";
import { imageGenerationsRoute } from "../images/generations.ts";
import { moderationsRoute } from "../moderations/moderations.ts";
import { createResponseRoute } from "../responses/create-response.ts";

export const batchedRoutes: readonly ChargeablePath[] = [
  chatCompletionsRoute,
  createResponseRoute,
  embeddingsRoute,
  completionsRoute,
  moderationsRoute,
  imageGenerationsRoute,
  imageEditsRoute,
  messagesRoute,
];
