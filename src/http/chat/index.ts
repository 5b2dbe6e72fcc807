import type { Feature } from "../feature.ts";
import { chatCompletionsRoute } from "./chat-completions.ts";
import { countTokensRoute } from "./count-tokens.ts";
import { messagesRoute } from "./messages.ts";

export const chatFeature: Feature = { routes: [chatCompletionsRoute, messagesRoute, countTokensRoute] };
