import { imageGenerationCodec, imageGenerationRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { imageGenerationsContract } from "./image-generations.contract.ts";

export const imageGenerationsRoute = chargeable(imageGenerationsContract, {
  operations: ["image_generation"],
  surface: "openai",
  body: imageGenerationRequest,
  codec: imageGenerationCodec,
});
