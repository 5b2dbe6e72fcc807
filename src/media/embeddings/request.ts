import { z } from "zod";
import { modelId, wholeNumber } from "../../bodies/index.ts";
import { textInputs } from "../inputs.ts";

/** The body of an embeddings call, as far as the gateway must understand it to bound and route it. */
export const embeddingsRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/text-embedding-3-small."),
    input: textInputs,
    encoding_format: z.string().nullish().describe("float or base64."),
    dimensions: wholeNumber(1).nullish(),
    title: z.string().nullish().describe("Google, beside input_type: the title of the text."),
    stream: z
      .literal(false, "embeddings are not streamed")
      .nullish()
      .meta({ enum: [false, null] }),
  })
  .meta({ id: "EmbeddingsRequest" });

export type EmbeddingsRequest = z.output<typeof embeddingsRequest>;
