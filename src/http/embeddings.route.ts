import { embeddingsCodec, embeddingsRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { embeddingsContract } from "./embeddings.contract.ts";

export const embeddingsRoute = chargeable(embeddingsContract, {
  operations: ["embeddings"],
  surface: "openai",
  body: embeddingsRequest,
  codec: embeddingsCodec,
});
