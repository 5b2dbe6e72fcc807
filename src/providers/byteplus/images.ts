import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import {
  editsBetween,
  fitImageFields,
  imageHints,
  type ImageFieldRules,
  requestedImageCount,
  imagesInEvents,
  onceForEach,
  opaqueOnly,
} from "../shared/image-fields.ts";
import { imageSources, refuseMask, urlsOf } from "../shared/image-sources.ts";
import { countOf } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";

const rules: ImageFieldRules = { drops: [...imageHints, "n", "quality", "user"], only: { ...opaqueOnly, style: [] } };

/** Its own fields pass. `auto` is the size of nothing, but where an image is taken apart. */
function fitted(body: JsonObject): JsonObject {
  const { size, ...fit } = fitImageFields(body, rules);
  const unsaid = size === undefined || size === null || (size === "auto" && fit["layer_decomposition"] === undefined);
  return unsaid ? fit : { ...fit, size };
}

/** What it has made is what it charges; the tokens are the pixels of that, and cost nothing unless somebody prices them. */
function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const images = countOf(usage["generated_images"]);
  return {
    usage: {
      images,
      inputImages: countOf(usage["input_images"]),
      outputImage: countOf(usage["output_tokens"]),
      // Where every image has failed, the answer is no success.
      requests: images > 0 ? 1 : 0,
    },
  };
}

/** It knows no `n`: as many calls are made, and answered as one. */
function sideBySide(json: JsonObject, body: JsonObject): UpstreamRequests {
  if (requestedImageCount(body) === 1) return { requests: [{ json }] };
  if (body["sequential_image_generation"] === "auto") {
    throw refusal("n", "not beside sequential_image_generation, whose max_images says how many images are made.");
  }
  const { stream: _stream, ...whole } = json;
  return { requests: onceForEach(body, { json: imagesInEvents(body, whole) }), answer: merged };
}

/** One answer with the images of all, and the sums of what they count. */
function merged(answers: readonly JsonObject[]): JsonObject {
  const usages = answers.map(({ usage }) => objectOf(usage)).filter((usage) => usage !== undefined);
  return {
    ...answers[0],
    data: answers.flatMap(({ data }) => listOf(data)),
    ...(usages.length === 0 ? {} : { usage: usages.reduce(sumOf) }),
  };
}

/** Adds numbers, also those of objects within; of anything else the first is kept. */
function sumOf(one: JsonObject, other: JsonObject): JsonObject {
  const sums = Object.entries(other).map(([key, value]) => {
    const before = one[key];
    if (typeof before === "number" && typeof value === "number") return [key, before + value];
    const [within, more] = [objectOf(before), objectOf(value)];
    return [key, within !== undefined && more !== undefined ? sumOf(within, more) : (before ?? value)];
  });
  return { ...one, ...(Object.fromEntries(sums) as JsonObject) };
}

/** What failed of several images stands in their place: only an answer without a list has failed altogether. */
const operation = {
  path: "/images/generations",
  edits: (body: JsonObject) => editsBetween(body, fitted(body)),
  readUsage,
  isFailure: ({ data }: JsonObject) => !Array.isArray(data),
};

export const imageGeneration: UpstreamOperation = {
  ...operation,
  toUpstream: ({ body }) => (requestedImageCount(body) === 1 ? undefined : sideBySide(fitted(body), body)),
};

/** There is no route for edits: what is edited goes along with a generation. */
async function editToUpstream(input: CallInput): Promise<UpstreamRequests> {
  refuseMask(input);
  const { image: _image, images: _images, mask: _mask, ...rest } = fitted(input.body);
  const urls = await urlsOf(imageSources(input));
  return sideBySide({ ...rest, image: urls.length === 1 ? urls[0] : urls }, input.body);
}

export const imageEdit: UpstreamOperation = { ...operation, toUpstream: editToUpstream };
