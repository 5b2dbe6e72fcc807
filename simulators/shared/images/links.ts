import { isObject } from "../json.ts";
import { type Answer, type Call, errorAnswer, type ProviderErrors, type Route } from "../types.ts";
import type { ImageFormat, Picture } from "./formats.ts";
import { encodePicture, imageFormat, parseSize, sizeText } from "./picture.ts";
import { type ImageHead, readImage } from "./read-image.ts";

const extensions = { png: "png", jpeg: "jpg", webp: "webp" };

/** The URL of an image, fetched without a key. It contains the whole image, so nothing is stored. */
export function pictureUrl(call: Call, folder: string, picture: Picture, format: ImageFormat): string {
  const colour = Buffer.from(picture.colour).toString("hex");
  return `http://${call.headers["host"] ?? "localhost"}${folder}/${sizeText(picture)}-${colour}.${extensions[format]}`;
}

/** The route behind the addresses of pictures. */
export function pictureRoute(folder: string, errors: ProviderErrors): Route {
  const handle = (call: Call): Answer => answerPicture(call) ?? errorAnswer(errors.forStatus(404));
  return { method: "GET", path: `${folder}/:file`, open: true, errors, handle };
}

function answerPicture(call: Call): Answer | null {
  const file = call.parameters["file"] ?? "";
  const [, sized, colour, extension] = /^(\d+x\d+)-([0-9a-f]{6})\.(png|jpg|webp)$/.exec(file) ?? [];
  const size = parseSize(sized);
  if (size === null || colour === undefined) return null;
  const [red = 0, green = 0, blue = 0] = Buffer.from(colour, "hex");
  const format = imageFormat(extension === "jpg" ? "jpeg" : extension);
  const bytes = encodePicture({ ...size, colour: [red, green, blue], transparent: false }, format);
  return { kind: "bytes", contentType: `image/${format}`, bytes };
}

/** The known properties of an image in a request: its header if it is a `data:` URL, otherwise null. */
export function readImageUrl(url: unknown): ImageHead | null {
  const base64 = /^data:[^,]*;base64,/.exec(String(url));
  return base64 === null ? null : readImage(Buffer.from(String(url).slice(base64[0].length), "base64"));
}

/** True for an address of something else than inline bytes, and for inline bytes that are an image. */
export function isReadableImage(url: unknown): boolean {
  return typeof url === "string" && (!url.startsWith("data:") || readImageUrl(url) !== null);
}

/** The address in a reference to an image, under either of the names that hosts take. */
export function referencedUrl(reference: unknown): unknown {
  if (!isObject(reference)) return reference;
  return reference["url"] ?? reference["image_url"];
}
