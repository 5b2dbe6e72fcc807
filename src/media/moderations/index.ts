import type { MediaCodec } from "../codec.ts";
import { boundInputs } from "../inputs.ts";
import type { ModerationRequest } from "./request.ts";

export { moderationRequest } from "./request.ts";

/** OpenAI's moderations, which Mistral has adopted with its own categories. */
export const moderationCodec: MediaCodec<ModerationRequest> = {
  measured: ["input"],
  bound: ({ input }, sizeOf) => ({ ...boundInputs(input, sizeOf), outputTokens: 0, choices: 1 }),
  // Scores are free.
  outputBytes: () => 0,
};
