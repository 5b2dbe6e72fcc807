import { errorBody, objectOf } from "../../core/index.ts";
import { askedFeatures } from "../asked-features.ts";
import type { TextCodec } from "../codec.ts";
import { generatedBytes } from "../generated-bytes.ts";
import { boundChat, opaqueFields } from "./bound.ts";
import { chatKeys } from "./generated-keys.ts";
import { ChatStreamObserver } from "./observe-stream.ts";
import { misfitsChat } from "./misfits.ts";
import type { ChatRequest } from "./request.ts";
import { chatObjects } from "./stored-objects.ts";

export { type ChatRequest, chatRequest } from "./request.ts";
export { chatTranslation } from "./translation.ts";

/** OpenAI Chat Completions. */
export const chatCodec: TextCodec<ChatRequest> = {
  dialect: "chat",
  objects: chatObjects,
  asks: ({ response_format: format, reasoning_effort: effort, reasoning }) =>
    askedFeatures({ format, effort: effort ?? objectOf(reasoning)?.["effort"] }),
  measured: opaqueFields,
  misfits: misfitsChat,
  bound: boundChat,
  observe: (body, readUsage, charged) =>
    new ChatStreamObserver(readUsage, body.stream_options?.include_usage === true ? (charged ?? "shown") : "hidden"),
  outputBytes: (answer) => generatedBytes(Buffer.from(answer), chatKeys),
  // OpenAI's SDKs throw for a chunk with a top-level `error` (`docs/wire/openai.md`).
  errorEvent: (error, requestId) => `data: ${JSON.stringify(errorBody("openai", error, requestId))}\n\n`,
};
export { answersInParts, plainContent, plainContentStream, readsContentParts } from "./plain-content.ts";
export { regularChatStream } from "./regular-stream.ts";
export { singleRoleStream } from "./single-role.ts";
export { collectThoughts, watchThoughts } from "./watch-thoughts.ts";
