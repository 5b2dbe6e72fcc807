import { errorBody, limits, parseObject } from "../../core/index.ts";
import type { MediaCodec } from "../codec.ts";
import { boundCompletion, opaqueFields } from "./bound.ts";
import { CompletionStreamObserver, textBytes } from "./observe-stream.ts";
import type { CompletionRequest } from "./request.ts";

export { completionRequest } from "./request.ts";

/** OpenAI's legacy completions: a text is continued, without a conversation. Nothing is translated to or from them. */
export const completionCodec: MediaCodec<CompletionRequest> = {
  measured: opaqueFields,
  bound: boundCompletion,
  outputBytes: (answer) => textBytes(parseObject(answer) ?? {}),
  events: {
    observe: (body, readUsage) => new CompletionStreamObserver(readUsage, body.stream_options?.include_usage !== true),
    eventBytesMax: limits.wholeEventBytesMax,
    errorEvent: (error) => `data: ${JSON.stringify(errorBody("openai", error, ""))}\n\n`,
    ofAnswer: (_body, answer) => `data: ${JSON.stringify(answer)}\n\ndata: [DONE]\n\n`,
  },
};
