/** The images of a conversation in Responses. */
import { type JsonObject, listOf, objectOf, objectsOf } from "../../core/index.ts";
import { imageTypeOf } from "../../dialects/index.ts";

/** The most images of one edit. */
const PICTURES_MAX = 10;

/** Those of the last item that has any: of a message all, else the one that was made. Data URLs and addresses. */
export function lastPictures(input: unknown): readonly string[] {
  for (const value of listOf(input).toReversed()) {
    const found = picturesOf(objectOf(value) ?? {});
    if (found.length > 0) return found.slice(0, PICTURES_MAX);
  }
  return [];
}

function picturesOf({ type, result, content, output }: JsonObject): string[] {
  if (type === "image_generation_call") return typeof result === "string" && result !== "" ? [dataUrl(result)] : [];
  return objectsOf(content ?? output).flatMap((part) => {
    const { type: kind, image_url: url } = part;
    return kind === "input_image" && typeof url === "string" ? [url] : [];
  });
}

/** `data` is base64. */
export function dataUrl(data: string): string {
  return `data:${imageTypeOf(data)};base64,${data}`;
}
