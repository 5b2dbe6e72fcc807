import { answerJson } from "../shared/answer-json.ts";
import { badValue, isInteger, isOneOf, isText, type Problem } from "../shared/check.ts";
import { isReadableImage, pictureRoute, pictureUrl, readImageUrl, referencedUrl } from "../shared/images/links.ts";
import type { Picture, Size } from "../shared/images/formats.ts";
import { encodePicture, pictureOf, sizeOfRatio } from "../shared/images/picture.ts";
import { asArray, isGiven, isObject, type JsonObject } from "../shared/json.ts";
import { isFormType } from "../shared/multipart.ts";
import { first, list, record, type Shape, value, values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { xaiErrors } from "./errors.ts";
import { imageTicks } from "./models.ts";

const picturesFolder = "/xai/imgen";
const sourcesMax = 5;
const promptMax = 8_000;

const ratios = ["1:1", "3:4", "4:3", "9:16", "16:9", "2:3", "3:2", "9:19.5", "19.5:9", "9:20", "20:9", "1:2", "2:1"];

const fields = values({
  model: isText,
  prompt: isText,
  n: isInteger(1, 10),
  aspect_ratio: isOneOf(...ratios, "auto"),
  resolution: isOneOf("1k", "2k"),
  quality: isOneOf("low", "medium", "high"),
  response_format: isOneOf("url", "b64_json"),
  user: isText,
});

const sourceShape = record({
  type: value(isOneOf("image_url")),
  url: value(isText),
  image_url: value(isText),
  file_id: value(isText),
});

const generationShape = record(fields, { required: ["model", "prompt"] });
const editShape = record(
  { ...fields, image: sourceShape, images: list(sourceShape, 1), mask: sourceShape },
  { required: ["model", "prompt"] },
);

/** Sizes are requested by ratio and resolution: OpenAI's own parameters are refused explicitly. */
function refuseForeign(body: JsonObject): Problem | null {
  const field = ["size", "style"].find((name) => isGiven(body[name]));
  return field === undefined ? null : { kind: "unsupported", field, message: `Argument not supported: ${field}` };
}

function answer(call: Call, shape: Shape, edited: boolean): Answer {
  if (isFormType(call.headers["content-type"])) return errorAnswer(xaiErrors.forStatus(415));
  const check = (body: JsonObject): Problem | null => {
    return refuseForeign(body) ?? shape(body, "") ?? checkPrompt(body) ?? (edited ? checkSources(body) : null);
  };
  return answerJson(call, { errors: xaiErrors, check, answer: (body, model) => drawn(call, body, model) });
}

function drawn(call: Call, body: JsonObject, model: string): Answer {
  const sources = sourcesOf(body);
  const pictures = picturesOf(call, body, sources);
  const plain = { data: pictures.map((picture) => imageItem(call, body, picture)) };
  const cost_in_usd_ticks = imageTicks(model, pictures.length, sources.length);
  return jsonAnswer(call.faults.noUsage ? plain : { ...plain, usage: { cost_in_usd_ticks } });
}

function checkPrompt({ prompt }: JsonObject): Problem | null {
  if (String(prompt).length <= promptMax) return null;
  return badValue("prompt", `expected at most ${promptMax} characters`);
}

/** Exactly one of `image` and `images`; each names an address or an uploaded file. */
function checkSources(body: JsonObject): Problem | null {
  const sources = sourcesOf(body);
  if (isGiven(body["image"]) === isGiven(body["images"])) {
    return badValue("image", "expected exactly one of image and images");
  }
  if (sources.length > sourcesMax) {
    return badValue("images", `expected at most ${sourcesMax} images`);
  }
  return first(sources.entries(), ([index, source]) => {
    const field = `images[${index}]`;
    const url = referencedUrl(source);
    if (!isGiven(url) && !(isObject(source) && isGiven(source["file_id"])))
      return { kind: "missing", field: `${field}.url` };
    if (!isGiven(url) || isReadableImage(url)) return null;
    return badValue(field, "it could not be decoded as an image");
  });
}

function sourcesOf(body: JsonObject): readonly unknown[] {
  return isGiven(body["image"]) ? [body["image"]] : asArray(body["images"]);
}

function picturesOf(call: Call, body: JsonObject, sources: readonly unknown[]): Picture[] {
  const size = sizeOf(body, sources);
  return Array.from({ length: Number(body["n"] ?? 1) }, (_, index) => pictureOf(call.identity, `image ${index}`, size));
}

/** A single source keeps its own size, whatever ratio is asked for. */
function sizeOf(body: JsonObject, sources: readonly unknown[]): Size {
  const ratio = body["aspect_ratio"];
  const side = body["resolution"] === "2k" ? 2_048 : 1_024;
  const single = sources.length === 1 ? readImageUrl(referencedUrl(sources[0])) : null;
  if (single !== null) return { width: single.width, height: single.height };
  return sizeOfRatio(typeof ratio === "string" && ratio !== "auto" ? ratio : "1:1", side);
}

/** `refuse:CATEGORY` in the prompt: the image is withheld, in a 200 that is charged. */
function imageItem(call: Call, body: JsonObject, picture: Picture): JsonObject {
  const withheld = /\brefuse:[\w-]+/i.test(String(body["prompt"]));
  const inline = body["response_format"] === "b64_json";
  const image = inline
    ? { b64_json: encodePicture(picture, "jpeg").toString("base64") }
    : { url: pictureUrl(call, picturesFolder, picture, "jpeg") };
  const plain = { revised_prompt: "", respect_moderation: !withheld, mime_type: "image/jpeg" };
  return withheld ? plain : { ...image, ...plain };
}

/** Images of xAI: JSON alone, ratios in place of sizes, JPEG, and the cost in place of tokens. */
export const imageRoutes: readonly Route[] = [
  { method: "POST", path: "/xai/v1/images/generations", handle: (call) => answer(call, generationShape, false) },
  { method: "POST", path: "/xai/v1/images/edits", handle: (call) => answer(call, editShape, true) },
  pictureRoute(picturesFolder, xaiErrors),
];
