import { z } from "zod";
import { modelId } from "../../bodies/index.ts";
import { textInputs } from "../inputs.ts";

/** The body of a moderation, as far as the gateway must understand it to bound and route it. */
export const moderationRequest = z
  .looseObject({
    model: modelId.describe("Provider-prefixed model id, such as openai/omni-moderation-latest."),
    input: textInputs,
    stream: z
      .literal(false, "moderations are not streamed")
      .nullish()
      .meta({ enum: [false, null] }),
  })
  .meta({ id: "ModerationRequest" });

export type ModerationRequest = z.output<typeof moderationRequest>;
