import { z } from "zod";
import { modelId, opaqueText, wholeNumber } from "../../bodies/index.ts";

/**
 * The body of a Responses call, as far as the gateway must understand it to bound, route and store it. Everything else
 * passes unread if the upstream uses the same dialect; otherwise `readResponsesRequest` reads it.
 */
const part = z.looseObject({ type: z.string() });

const item = z.looseObject({
  type: z.string().nullish(),
  role: z.string().nullish(),
  content: z.union([opaqueText, z.array(part), z.null()]).optional(),
});

export const responsesRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/gpt-5-mini."),
    input: z.union([opaqueText, z.array(item)]),
    instructions: opaqueText.nullish(),
    stream: z.boolean().nullish(),
    max_output_tokens: wholeNumber(1).nullish(),
    previous_response_id: z.string().min(1).nullish(),
    conversation: z
      .union([z.string(), z.looseObject({ id: z.string() })])
      .nullish()
      .describe("A conversation: its items come before the input, and input and output are added to it."),
    store: z.boolean().nullish().describe("Whether the response is kept; true where it is left out."),
    background: z
      .boolean()
      .nullish()
      .describe("Whether the response goes on after its call, which is answered at once: poll it by its id."),
  })
  .meta({ id: "ResponsesRequest" });

/** The counted body: a call without its output options, of which the input may be left out too. */
export const countResponseTokensRequest = responsesRequest
  .omit({ stream: true, store: true, background: true, max_output_tokens: true })
  .partial({ input: true })
  .meta({ id: "CountResponseTokensRequest" });

export type ResponsesRequest = z.output<typeof responsesRequest>;
