import type { ImageFormat, Picture, Size } from "../shared/images/formats.ts";
import { imageFormat, encodePicture, parseSize, pictureOf, sizeText } from "../shared/images/picture.ts";
import { pictureUrl } from "../shared/images/links.ts";
import { isGiven, type JsonObject } from "../shared/json.ts";
import { type Frame, namedFrame } from "../shared/sse.ts";
import { type Answer, type Call, jsonAnswer } from "../shared/types.ts";
import { familyOf } from "./image-rules.ts";

/** The target of the older models' URLs. */
export const picturesFolder = "/openai/files/images";

/** One request for images on its way to an answer. */
export interface ImageTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  /** Sizes of the images that came along, the mask included; empty for generations. */
  readonly sources: readonly Size[];
  /** First word of the event names. */
  readonly events: "image_generation" | "image_edit";
}

const square = { width: 1_024, height: 1_024 };

/** Output tokens of a square of 1024 pixels; other sizes in proportion to their pixels. */
const squareTokens: { readonly [quality: string]: number } = {
  low: 272,
  medium: 1_056,
  high: 4_160,
  xhigh: 6_240,
  max: 8_320,
};
const tokensPerPartialImage = 100;
/** An image that comes in: a base, and more for each tile of 512 pixels after its short side is shrunk to that. */
const sourceBaseTokens = 65;
const sourceTileTokens = 129;
const tilePixels = 512;
/** Additional tokens of `input_fidelity: high` for each of them. */
const fidelityTokens = 4_096;

/** Answers with images of the asked size, whole or as events. */
export function answerImages(talk: ImageTalk): Answer {
  const { call, body, model } = talk;
  if (!familyOf(model).tokens) return answerPlain(talk);
  if (body["stream"] === true) return { kind: "stream", frames: imageFrames(talk) };
  const data = picturesOf(talk).map((picture) => ({ b64_json: base64Of(picture, formatOf(body)) }));
  const plain = { created: call.identity.created, ...described(talk), data };
  return jsonAnswer(call.faults.noUsage ? plain : { ...plain, usage: usageOf(talk, data.length, true) });
}

/** The older models: a URL, or base64 on request, and no usage. */
function answerPlain(talk: ImageTalk): Answer {
  const { call, body, model } = talk;
  const revised = model.startsWith("dall-e-3") ? { revised_prompt: `${String(body["prompt"])}, in fine detail` } : {};
  const data = picturesOf(talk).map((picture) => {
    const inline = body["response_format"] === "b64_json";
    const image = inline
      ? { b64_json: base64Of(picture, "png") }
      : { url: pictureUrl(call, picturesFolder, picture, "png") };
    return { ...image, ...revised };
  });
  return jsonAnswer({ created: call.identity.created, data });
}

/** For each image its partial images and the whole one, with its share of the usage. */
function* imageFrames(talk: ImageTalk): Generator<Frame> {
  const { call, body, events } = talk;
  const plain = { created_at: call.identity.created, ...described(talk) };
  for (const [index, picture] of picturesOf(talk).entries()) {
    for (let partial = 0; partial < Number(body["partial_images"] ?? 0); partial++) {
      const draft = pictureOf(call.identity, `draft ${partial} of ${index}`, picture, picture.transparent);
      const b64_json = base64Of(draft, formatOf(body));
      yield namedFrame({ type: `${events}.partial_image`, b64_json, ...plain, partial_image_index: partial });
    }
    const usage = call.faults.noUsage ? {} : { usage: usageOf(talk, 1, index === 0) };
    yield namedFrame({ type: `${events}.completed`, b64_json: base64Of(picture, formatOf(body)), ...plain, ...usage });
  }
}

function picturesOf({ call, body, model, sources }: ImageTalk): Picture[] {
  const transparent = body["background"] === "transparent";
  const size = sizeOf(body, model, sources);
  return Array.from({ length: Number(body["n"] ?? 1) }, (_, index) => {
    return pictureOf(call.identity, `image ${index}`, size, transparent);
  });
}

function sizeOf(body: JsonObject, model: string, sources: readonly Size[]): Size {
  const asked = parseSize(body["size"]);
  if (asked !== null) return asked;
  const [first] = sources;
  // By default, models keep the orientation of the edited image.
  if (first === undefined || !familyOf(model).tokens || first.width === first.height) return square;
  return first.width > first.height ? { width: 1_536, height: 1_024 } : { width: 1_024, height: 1_536 };
}

function formatOf(body: JsonObject): ImageFormat {
  return imageFormat(body["output_format"]);
}

function qualityOf({ body }: ImageTalk): string {
  const { quality } = body;
  return isGiven(quality) && quality !== "auto" ? String(quality) : "medium";
}

function base64Of(picture: Picture, format: ImageFormat): string {
  return encodePicture(picture, format).toString("base64");
}

/** The answer's description of its images, including the values chosen for `auto`. */
function described(talk: ImageTalk): JsonObject {
  const { body, model, sources } = talk;
  return {
    background: body["background"] === "transparent" ? "transparent" : "opaque",
    output_format: formatOf(body),
    quality: qualityOf(talk),
    size: sizeText(sizeOf(body, model, sources)),
  };
}

function usageOf(talk: ImageTalk, images: number, countInput: boolean): JsonObject {
  const { body, model, sources } = talk;
  const { width, height } = sizeOf(body, model, sources);
  const whole = Math.round(((squareTokens[qualityOf(talk)] ?? 0) * width * height) / (square.width * square.height));
  const output_tokens = images * (whole + Number(body["partial_images"] ?? 0) * tokensPerPartialImage);
  const text_tokens = countInput ? Math.max(1, Math.ceil(String(body["prompt"]).length / 4)) : 0;
  const fidelity = body["input_fidelity"] === "high" ? fidelityTokens : 0;
  const sourceTokens = sources.map((source) => sourceBaseTokens + tilesOf(source) * sourceTileTokens + fidelity);
  const image_tokens = countInput ? sourceTokens.reduce((total, tokens) => total + tokens, 0) : 0;
  const input_tokens = text_tokens + image_tokens;
  return {
    total_tokens: input_tokens + output_tokens,
    input_tokens,
    output_tokens,
    input_tokens_details: { text_tokens, image_tokens },
    output_tokens_details: { text_tokens: 0, image_tokens: output_tokens },
  };
}

function tilesOf({ width, height }: Size): number {
  const scale = Math.min(1, tilePixels / Math.min(width, height));
  return Math.ceil((width * scale) / tilePixels) * Math.ceil((height * scale) / tilePixels);
}
