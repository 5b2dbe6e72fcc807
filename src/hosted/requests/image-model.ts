import { GatewayError, type JsonObject, objectOf } from "../../core/index.ts";

/** The models for images of a request. */
export interface ImageModel {
  /** The id by which the gateway's tool calls it. */
  id: string;
  /** The provider's name of it. */
  model: string;
  /** The same for edits; undefined if there is none. */
  editId: string | undefined;
}

/** Throws 422 for a tool whose mask only the provider has. */
export function requireMask({ value }: { value: JsonObject }): void {
  const mask = objectOf(value["input_image_mask"]);
  if (mask === undefined || typeof mask["image_url"] === "string") return;
  const message = "tools: input_image_mask: send the image itself (image_url): the gateway makes this image.";
  throw new GatewayError("validation_failed", message, { param: "tools" });
}
