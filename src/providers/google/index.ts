import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { batches } from "./batches.ts";
import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { countTokens, generate } from "./generate.ts";
import { imageEdit, imageGeneration } from "./images.ts";
import { models } from "./models.ts";

/** The path of the OpenAI-compatible layer; all other paths belong to the native API. */
const COMPATIBLE = "/v1beta/openai/";

export const google: Provider = {
  priceProvider: "google",
  // Each API accepts only its own header; a request with both or the other one is refused (hermes-agent #7893, pi-go
  // #297).
  headers: (key, path) => (path.startsWith(COMPATIBLE) ? bearer(key) : { "x-goog-api-key": key }),
  operations: {
    chat,
    gemini: generate,
    count_gemini_tokens: countTokens,
    embeddings,
    image_generation: imageGeneration,
    image_edit: imageEdit,
  },
  batches,
  models,
  failures,
};
