import { GatewayError, type JsonObject, listOf, objectOf, type ObservedUsage, type Usage } from "../../core/index.ts";
import type { CallInput, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import {
  fitImageFields,
  imageHints,
  type ImageFieldRules,
  onceForEach,
  opaqueOnly,
} from "../shared/images/image-fields.ts";
import { readImageSize } from "../shared/images/image-size.ts";
import { encodeFile, type ImageSource, imageSources, refuseMask, unknownFile } from "../shared/images/image-sources.ts";
import { textOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { countContent, type ContentUsage, readContentUsage } from "./content-usage.ts";

/** Images are always in the answer itself, in the model's format and quality. */
const rules: ImageFieldRules = {
  drops: [...imageHints, "quality", "user", "stream"],
  only: { ...opaqueOnly, response_format: ["b64_json"], output_format: ["png"], style: [] },
};

const ratios = ["1:1", "1:4", "1:8", "2:3", "3:2", "3:4", "4:1", "4:3", "4:5", "5:4", "8:1", "9:16", "16:9", "21:9"];

/** The resolution if no size is requested; the first image models have no other. */
const OWN_RESOLUTION = "1K";
const resolutions = { "512": 512, [OWN_RESOLUTION]: 1_024, "2K": 2_048, "4K": 4_096 };
const oneResolution = /^(?:models\/)?gemini-2\./;

function imageConfig(size: unknown, model: string): JsonObject {
  const sizes = { ratios, resolutions: oneResolution.test(model) ? { [OWN_RESOLUTION]: 1_024 } : resolutions };
  const { ratio, resolution } = readImageSize(size, sizes);
  return {
    ...(ratio === undefined ? {} : { aspectRatio: ratio }),
    ...(resolution === undefined || resolution === OWN_RESOLUTION ? {} : { imageSize: resolution }),
  };
}

/** Tokens of an image by resolution: the most of Google's image models, according to the guide "Image generation". */
const resolutionTokens: Readonly<Record<string, number>> = {
  "512": 747,
  [OWN_RESOLUTION]: 1_290,
  "2K": 1_680,
  "4K": 2_520,
};

/** Tokens of text and thought beside an image. They have no bound of their own; few answers have a quarter of this. */
const TOKENS_BESIDE_IMAGE = 4_096;

function imageUsageMax({ size }: JsonObject, model: string): Usage {
  const { imageSize = OWN_RESOLUTION } = imageConfig(size, model);
  return { outputImage: resolutionTokens[String(imageSize)] ?? 2_520, output: TOKENS_BESIDE_IMAGE };
}

/** Data is sent inline; Google fetches URLs itself, the gateway never does. */
async function partOf(source: ImageSource): Promise<JsonObject> {
  if ("file" in source) return { inlineData: await encodeFile(source.file) };
  if ("fileId" in source) throw unknownFile(source);
  const { param, url } = source;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return { fileData: { fileUri: url, ...typeOfName(url) } };
  const comma = url.indexOf(",");
  const [, mimeType] = /^data:([\w.+/-]+);(?:[^,]*;)?base64$/i.exec(url.slice(0, Math.max(comma, 0))) ?? [];
  if (mimeType === undefined) throw refusal(param, "expected an address, or a data URL with a type and base64.");
  return { inlineData: { mimeType, data: url.slice(comma + 1) } };
}

/** The media type by the URL's file extension, if it has a known one. */
function typeOfName(url: string): JsonObject {
  const [, ending = ""] = /\.(png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url) ?? [];
  return ending === "" ? {} : { mimeType: `image/${ending.toLowerCase().replace("jpg", "jpeg")}` };
}

/** A call generates one image, so several images need as many calls. */
async function toUpstream(input: CallInput, model: string): Promise<UpstreamRequests> {
  const body = fitImageFields(input.body, rules);
  refuseMask(input);
  const config = imageConfig(body["size"], model);
  const parts: JsonObject[] = [{ text: body["prompt"] }];
  for (const source of imageSources(input)) parts.push(await partOf(source));
  const request = {
    subpath: `${encodeURIComponent(model.replace(/^models\//, ""))}:generateContent`,
    json: {
      contents: [{ role: "user", parts }],
      generationConfig: {
        responseModalities: ["IMAGE"],
        ...(Object.keys(config).length === 0 ? {} : { imageConfig: config }),
      },
    },
  };
  return { requests: onceForEach(body, request), answer: readImages };
}

/** The images of an answer, without the drafts among its thoughts. */
function imagesIn(answer: JsonObject): { data: string; mimeType: string | undefined }[] {
  const parts = listOf(answer["candidates"]).flatMap((candidate) =>
    listOf(objectOf(objectOf(candidate)?.["content"])?.["parts"]),
  );
  return parts.flatMap((part) => {
    const { thought, inlineData } = objectOf(part) ?? {};
    const { data, mimeType } = objectOf(inlineData) ?? {};
    return typeof data === "string" && data !== "" && thought !== true ? { data, mimeType: textOf(mimeType) } : [];
  });
}

/** Converts answers to OpenAI's format, which has one image format for all. Throws if there is no image at all. */
function readImages(answers: readonly JsonObject[], at: number): JsonObject {
  const successful = answers.filter((answer) => imagesIn(answer).length > 0);
  const images = successful.flatMap(imagesIn);
  const [first] = images;
  if (first === undefined) throw withoutImage(answers[0] ?? {});
  const format = /^image\/(\w+)$/.exec(first.mimeType ?? "image/png")?.[1];
  const usage = openaiUsage(successful.flatMap((answer) => countContent(answer) ?? []));
  return {
    created: at,
    data: images.map(({ data }) => ({ b64_json: data })),
    background: "opaque",
    ...(format === undefined ? {} : { output_format: format }),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** The counts in OpenAI's terms; all tokens that are not image tokens are text tokens. */
function openaiUsage(counts: readonly ContentUsage[]): JsonObject | undefined {
  if (counts.length === 0) return undefined;
  const sum = (field: keyof ContentUsage): number => counts.reduce((total, count) => total + count[field], 0);
  const [input, output] = [sum("prompt"), sum("candidates") + sum("thoughts")];
  const [inputImages, outputImages] = [sum("promptImages"), sum("images")];
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input - inputImages, image_tokens: inputImages },
    output_tokens_details: { text_tokens: output - outputImages, image_tokens: outputImages },
  };
}

/** Finish reasons that blame the prompt or the image, not the model. */
const moderation = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII/;

function withoutImage(answer: JsonObject): GatewayError {
  const blocked = textOf(objectOf(answer["promptFeedback"])?.["blockReason"]);
  const finish = textOf(objectOf(listOf(answer["candidates"])[0])?.["finishReason"]);
  const reason = /^[A-Z_]+$/.exec(blocked ?? finish ?? "")?.[0] ?? "no reason given";
  return blocked !== undefined || moderation.test(reason)
    ? new GatewayError("moderation_blocked", `The upstream's safety system has blocked this image (${reason}).`)
    : new GatewayError(
        "image_missing",
        `The model has answered without an image (${reason}). Try again, or change the prompt.`,
      );
}

/**
 * An answer without an image is free, because the client doesn't receive it. `readImages` throws if no answer has one.
 */
function readUsage(answer: JsonObject): ObservedUsage | undefined {
  return imagesIn(answer).length === 0 ? { usage: {} } : readContentUsage(answer);
}

/** Google's native API; the compatible layer supports few image models. */
const operation: UpstreamOperation = {
  path: "/v1beta/models/",
  edits: () => [],
  toUpstream,
  imageUsageMax,
  readUsage,
  isFailure: ({ error, candidates, promptFeedback }) =>
    (error !== undefined && error !== null) || (candidates === undefined && promptFeedback === undefined),
};

export const imageGeneration = operation;
export const imageEdit = operation;
