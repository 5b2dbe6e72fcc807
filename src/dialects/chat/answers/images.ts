import { type JsonObject, objectOf } from "../../../core/index.ts";
import { type ImagePart, sourceOfAnswer, urlOfSource } from "../../conversation/index.ts";

/** An image in a message (OpenRouter); undefined for something else. */
export function readImage(value: unknown): ImagePart | undefined {
  const url = objectOf(objectOf(value)?.["image_url"])?.["url"];
  return typeof url === "string" && url !== "" ? { kind: "image", source: sourceOfAnswer(url) } : undefined;
}

/** `index`: the position among the message's images. */
export function writeImage({ source }: ImagePart, index: number): JsonObject {
  const url = source.kind === "stored" ? source.id : urlOfSource(source);
  return { type: "image_url", image_url: { url }, index };
}
