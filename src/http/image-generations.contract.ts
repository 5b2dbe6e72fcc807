import { imageGenerationRequest } from "../dialects/index.ts";
import { proxiedRoute } from "./shared.contract.ts";

export const imageGenerationsContract = proxiedRoute({
  path: "/v1/images/generations",
  operationId: "createImage",
  tag: "Images",
  summary: "Image generation.",
  body: imageGenerationRequest,
  streams: true,
});
