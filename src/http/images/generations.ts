import { imageGenerationCodec, imageGenerationRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";

export const imageGenerationsRoute = chargeableRoute({
  contract: {
    path: "/v1/images/generations",
    operationId: "createImage",
    tag: "Images",
    summary: "Image generation.",
    streams: true,
  },
  operations: ["image_generation"],
  surface: "openai",
  body: imageGenerationRequest,
  codec: imageGenerationCodec,
});
