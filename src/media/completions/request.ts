import { z } from "zod";
import { modelId, opaqueText, wholeNumber } from "../../bodies/index.ts";
import { textInputs } from "../inputs.ts";

/** The most completions of one prompt; upstreams allow fewer. */
const CHOICES_MAX = 128;

/** The body of a legacy completion, as far as the gateway must understand it to bound and route it. */
export const completionRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/gpt-3.5-turbo-instruct."),
    prompt: textInputs.nullish(),
    suffix: opaqueText.nullish(),
    max_tokens: wholeNumber(0).nullish(),
    n: wholeNumber(1, CHOICES_MAX).nullish(),
    best_of: wholeNumber(1, CHOICES_MAX)
      .nullish()
      .describe("How many completions of each prompt are generated, and billed; the best n of them are answered."),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  })
  .meta({ id: "CompletionRequest" });

export type CompletionRequest = z.output<typeof completionRequest>;
