import type { Provider } from "../provider.ts";
import { bearer } from "../shared/auth.ts";
import { embeddingsOf } from "./embeddings.ts";
import { failures } from "./errors.ts";
import { models } from "./models.ts";
import { rerankOf } from "./rerank.ts";

/** Voyage at this base URL, which may omit the version. */
export function voyageOf({ baseUrl }: { baseUrl: string }): Provider {
  return {
    priceProvider: "voyage",
    headers: bearer,
    operations: { rerank: rerankOf(baseUrl), embeddings: embeddingsOf(baseUrl) },
    models,
    failures,
  };
}
