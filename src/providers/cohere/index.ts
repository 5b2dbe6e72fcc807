import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { embeddings } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { models } from "./models.ts";
import { rerank } from "./rerank.ts";

/** Cohere's own API. Its chat is at a compatible address, which is a provider entry of its own. */
export const cohere: Provider = {
  priceProvider: "cohere",
  headers: bearer,
  operations: { rerank, embeddings },
  models,
  failures,
};
