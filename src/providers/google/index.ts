import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { imageEdit, imageGeneration } from "./images.ts";
import { models } from "./models.ts";

/** The layer that speaks OpenAI's shapes; everything else is the native API. */
const COMPATIBLE = "/v1beta/openai/";

export const google: Provider = {
  priceProvider: "google",
  // Each takes its own way alone: a request with both is refused, as one with the other's is (hermes-agent #7893, pi-go #297).
  headers: (key, path) => (path.startsWith(COMPATIBLE) ? bearer(key) : { "x-goog-api-key": key }),
  operations: { chat, embeddings, image_generation: imageGeneration, image_edit: imageEdit },
  models,
  failures,
};
