import type { Provider } from "../provider.ts";
import { chat } from "./chat.ts";
import { embeddings } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { imageEdit, imageGeneration } from "./images.ts";
import { models } from "./models.ts";

export const google: Provider = {
  priceProvider: "google",
  // The compatible layer reads the first, the native API the second.
  headers: (key) => ({ authorization: `Bearer ${key}`, "x-goog-api-key": key }),
  operations: { chat, embeddings, image_generation: imageGeneration, image_edit: imageEdit },
  models,
  failures,
};
