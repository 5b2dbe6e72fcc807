import { answerJson } from "../shared/answer-json.ts";
import type { Problem } from "../shared/check.ts";
import { pictureRoute, pictureUrl } from "../shared/images/links.ts";
import { encodePicture, imageFormat, pictureOf, sizeText } from "../shared/images/picture.ts";
import { stringOr, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { doneFrame, type Frame, namedFrame } from "../shared/sse.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { byteplusErrors, byteplusRefusal } from "./errors.ts";
import { generationOf, imageCount, imageShape, refuseForGeneration, sizeOf, sourcesOf } from "./image-rules.ts";

const picturesFolder = "/byteplus/pictures";
const pixelsPerToken = 256;

interface ImageTalk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly prompt: string;
  readonly count: number;
}

function answerImages(call: Call): Answer {
  return answerJson(call, {
    errors: byteplusErrors,
    check: checkImages,
    answer: (body, model) => drawn(call, body, model),
  });
}

function checkImages(body: JsonObject): Problem | null {
  return imageShape(body, "") ?? refuseForGeneration(body);
}

function drawn(call: Call, body: JsonObject, model: string): Answer {
  const prompt = String(body["prompt"]);
  if (/\brefuse:[\w-]+/i.test(prompt)) {
    const message = "The request failed because the input text may contain sensitive information.";
    return errorAnswer(byteplusRefusal(400, "InputTextSensitiveContentDetected", message, "BadRequest"));
  }
  const talk = { call, body, model, prompt, count: imageCount(body) };
  return body["stream"] === true ? { kind: "stream", frames: imageFrames(talk) } : wholeAnswer(talk);
}

function wholeAnswer(talk: ImageTalk): Answer {
  const { call, body, model, count } = talk;
  const data = Array.from({ length: count }, (_, index) => imageItem(talk, index));
  const tools = isGiven(body["tools"]) ? { tools: body["tools"] } : {};
  const usage = call.faults.noUsage ? {} : { usage: usageOf(talk) };
  return jsonAnswer({ model, created: call.identity.created, data, ...tools, ...usage });
}

/** Each image is whole when its event comes; the last event has none. */
function* imageFrames(talk: ImageTalk): Generator<Frame> {
  const { call, body, model, count } = talk;
  const head = { model, created: call.identity.created };
  for (let index = 0; index < count; index++) {
    const type = `image_generation.${isFailed(talk, index) ? "partial_failed" : "partial_succeeded"}`;
    yield namedFrame({ type, ...head, image_index: index, ...imageItem(talk, index) });
  }
  const tools = isGiven(body["tools"]) ? { tools: body["tools"] } : {};
  const usage = call.faults.noUsage ? {} : { usage: usageOf(talk) };
  yield namedFrame({ type: "image_generation.completed", ...head, ...tools, ...usage });
  yield doneFrame;
}

/** `fail:N` in the prompt: the Nth image fails, once for each time that it stands there. */
function isFailed({ prompt }: ImageTalk, index: number): boolean {
  return [...prompt.matchAll(/\bfail:(\d+)\b/gi)].some(([, place]) => Number(place) === index + 1);
}

function imageItem(talk: ImageTalk, index: number): JsonObject {
  const { call, body } = talk;
  if (isFailed(talk, index)) {
    const message = "The request failed because the output image may contain sensitive information.";
    return { error: { code: "OutputImageSensitiveContentDetected", message } };
  }
  const size = sizeOf(body);
  const told = generationOf(talk.model).formats;
  // Older models always make JPEG.
  const format = told ? imageFormat(stringOr(body["output_format"], "jpeg")) : "jpeg";
  const picture = pictureOf(call.identity, `image ${index}`, size);
  const image =
    body["response_format"] === "b64_json"
      ? { b64_json: encodePicture(picture, format).toString("base64") }
      : { url: pictureUrl(call, picturesFolder, picture, format) };
  return { ...image, size: sizeText(size), ...(told ? { output_format: format } : {}) };
}

/** Images that failed are not counted. */
function usageOf(talk: ImageTalk): JsonObject {
  const { body, count } = talk;
  const { width, height } = sizeOf(body);
  const made = Array.from({ length: count }, (_, index) => index).filter((index) => !isFailed(talk, index)).length;
  const output_tokens = made * Math.ceil((width * height) / pixelsPerToken);
  const sources = sourcesOf(body).length;
  const plain = { generated_images: made, output_tokens, total_tokens: output_tokens };
  const input = sources === 0 ? {} : { input_images: sources };
  return isGiven(body["tools"]) ? { ...plain, ...input, tool_usage: { web_search: 0 } } : { ...plain, ...input };
}

/** The usual errors; a stream's error is a named event. */
const errors = {
  ...byteplusErrors,
  midStream: () => [namedFrame({ type: "error", ...asObject(byteplusErrors.forStatus(500).body) })],
};

/** Images of ModelArk, edits included: the images to edit come along in the same call. */
export const imageRoutes: readonly Route[] = [
  { method: "POST", path: "/byteplus/api/v3/images/generations", errors, handle: answerImages },
  pictureRoute(picturesFolder, byteplusErrors),
];
