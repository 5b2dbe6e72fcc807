import { z } from "@hono/zod-openapi";
import { imageEditCodec, imageEditForm, imageEditRequest } from "../../media/index.ts";
import { chargeableRoute } from "../chargeable.ts";
import { file, partNames } from "../contract.ts";

/** A form contains text, which can neither be null nor an object. */
const { images: _images, sequential_image_generation_options: _options, ...fields } = imageEditRequest.shape;
const texts = Object.entries(fields).map(([name, field]) => [name, withoutNull(field)] as const);

/** The same fields as in JSON, with the images as files. */
const form = z
  .object({
    ...Object.fromEntries(texts),
    image: z.array(file).min(1).describe("One as `image`, several as `image[]`."),
    mask: file.optional(),
  })
  .catchall(z.string())
  .meta({ id: "ImageEditForm", ...partNames });

function withoutNull(field: z.ZodType): z.ZodType {
  if (!(field instanceof z.ZodOptional)) return field;
  const inner: unknown = field.unwrap();
  const optional = inner instanceof z.ZodNullable ? z.optional(inner.unwrap()) : field;
  return optional.meta({ ...field.meta() });
}

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
