import { imageEditCodec, imageEditForm, imageEditRequest } from "../dialects/index.ts";
import { chargeable } from "./chargeable.ts";
import { imageEditsContract } from "./image-edits.contract.ts";

export const imageEditsRoute = chargeable(imageEditsContract, {
  operations: ["image_edit"],
  surface: "openai",
  body: imageEditRequest,
  form: { body: imageEditForm, file: "image", sound: false },
  codec: imageEditCodec,
});
