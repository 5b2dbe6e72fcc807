import { z } from "@hono/zod-openapi";
import { imageEditCodec, imageEditForm, imageEditRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";
import { file } from "../contract.ts";

/** The same fields as in JSON, with the images as files. */
const form = imageEditRequest
  .omit({ images: true })
  .extend({ image: z.array(file).describe("One as `image`, several as `image[]`."), mask: file.optional() })
  .meta({ id: "ImageEditForm" });

export const imageEditsRoute = chargeableRoute({
  contract: {
    path: "/v1/images/edits",
    operationId: "createImageEdit",
    tag: "Images",
    summary: "Image edit.",
    form,
    streams: true,
  },
  operations: ["image_edit"],
  surface: "openai",
  body: imageEditRequest,
  form: { body: imageEditForm, file: "image", sound: false },
  codec: imageEditCodec,
});
