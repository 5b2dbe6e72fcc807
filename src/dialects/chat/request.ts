import { z } from "zod";
import { modelId, opaqueText, wholeNumber } from "../../bodies/index.ts";

/**
 * The body of a chat completion, as far as the gateway must understand it. Everything else passes unread: objects are
 * loose, and the upstream validates the rest.
 */
const contentPart = z.looseObject({ type: z.string() });

const message = z.looseObject({
  role: z.string().min(1),
  content: z.union([opaqueText, z.array(contentPart), z.null()]).optional(),
});

const tokenLimit = wholeNumber(1).nullish();

export const chatRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/gpt-5-mini."),
    messages: z.array(message).min(1),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    max_tokens: tokenLimit,
    max_completion_tokens: tokenLimit,
    n: wholeNumber(1, 128).nullish(),
    models: z
      .array(modelId)
      .nullish()
      .describe(
        "OpenRouter's: models that are tried after `model`, by their ids. If `model` is one of OpenRouter's, it tries them itself.",
      ),
    // xAI's: such an answer is fetched, and costs, after its call has ended.
    deferred: z
      .boolean()
      .nullish()
      .refine((wanted) => wanted !== true, "is not offered here; leave it out or stream")
      .meta({ enum: [false, null] }),
  })
  .meta({ id: "ChatCompletionRequest" });

export type ChatRequest = z.output<typeof chatRequest>;
