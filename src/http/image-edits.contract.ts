import { z } from "@hono/zod-openapi";
import { imageEditRequest } from "../dialects/index.ts";
import { file, proxiedRoute } from "./shared.contract.ts";

/** The same fields, with the images as files. */
const form = imageEditRequest
  .omit({ images: true })
  .extend({ image: z.array(file).describe("One as `image`, several as `image[]`."), mask: file.optional() })
  .meta({ id: "ImageEditForm" });

export const imageEditsContract = proxiedRoute({
  path: "/v1/images/edits",
  operationId: "createImageEdit",
  tag: "Images",
  summary: "Image edit.",
  body: imageEditRequest,
  form,
  streams: true,
});
