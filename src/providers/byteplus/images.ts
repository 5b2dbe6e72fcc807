import { type JsonObject, listOf, objectOf, type ObservedUsage } from "../../core/index.ts";
import type { CallInput, RequestedExtras, UpstreamRequests, UpstreamOperation } from "../provider.ts";
import {
  editsBetween,
  fitImageFields,
  imageHints,
  type ImageFieldRules,
  requestedImageCount,
  imagesInEvents,
  onceForEach,
  opaqueOnly,
} from "../shared/images/image-fields.ts";
import { imageSources, refuseMask, urlsOf } from "../shared/images/image-sources.ts";
import { countOf, toldCount } from "../shared/json.ts";
import { refusal } from "../shared/refusal.ts";
import { readTools, searchesMax } from "./hosted-tools.ts";

const rules: ImageFieldRules = { drops: [...imageHints, "n", "quality", "user"], only: { ...opaqueOnly, style: [] } };

/** Passes BytePlus's own fields on. The size `auto` is only valid for an image that is decomposed into layers. */
function fitted(body: JsonObject): JsonObject {
  const { size, ...fit } = fitImageFields(body, rules);
  const isDefault =
    size === undefined || size === null || (size === "auto" && fit["layer_decomposition"] === undefined);
  return isDefault ? fit : { ...fit, size };
}

/** BytePlus charges per generated image. The tokens count its pixels, and are free unless the operator prices them. */
function readUsage(answer: JsonObject): ObservedUsage | undefined {
  const usage = objectOf(answer["usage"]);
  if (usage === undefined) return undefined;
  const images = toldCount(usage["generated_images"]);
  return {
    usage: {
      // Without a count, the images that were delivered count.
      ...(images === undefined ? {} : { images }),
      inputImages: countOf(usage["input_images"]),
      outputImage: countOf(usage["output_tokens"]),
      ...readTools(answer).usage,
      // If all images failed, the answer is no success.
      requests: images === 0 ? 0 : 1,
    },
  };
}

/** BytePlus has no `n`: as many requests are sent, and their answers merged into one. */
function inParallel(json: JsonObject, body: JsonObject): UpstreamRequests {
  if (requestedImageCount(body) === 1) return { requests: [{ json }] };
  if (body["sequential_image_generation"] === "auto") {
    throw refusal("n", "not together with sequential_image_generation, whose max_images limits the number of images.");
  }
  const { stream: _stream, ...whole } = json;
  return { requests: onceForEach(body, { json: imagesInEvents(body, whole) }), answer: merged };
}

/** Merges answers into one with all images and the sums of their counts. */
function merged(answers: readonly JsonObject[]): JsonObject {
  const usages = answers.map(({ usage }) => objectOf(usage)).filter((usage) => usage !== undefined);
  return {
    ...answers[0],
    data: answers.flatMap(({ data }) => listOf(data)),
    ...(usages.length === 0 ? {} : { usage: usages.reduce(sumOf) }),
  };
}

/** Adds numbers, also in nested objects; of other values the first one is used. */
function sumOf(first: JsonObject, second: JsonObject): JsonObject {
  const sums = Object.entries(second).map(([key, value]): [string, unknown] => {
    const before = first[key];
    if (typeof before === "number" && typeof value === "number") return [key, before + value];
    const [nestedBefore, nested] = [objectOf(before), objectOf(value)];
    const isNested = nestedBefore !== undefined && nested !== undefined;
    return [key, isNested ? sumOf(nestedBefore, nested) : (before ?? value)];
  });
  return { ...first, ...Object.fromEntries(sums) };
}

/** The searches of all requests: each makes one image. */
function searchesOf(body: JsonObject): RequestedExtras {
  const { webSearches = 0 } = searchesMax(body).toolUnits ?? {};
  return webSearches === 0 ? {} : { toolUnits: { webSearches: webSearches * requestedImageCount(body) } };
}

/** An image that failed is replaced by its error in the list, so only an answer without a list is a failure. */
const operation = {
  path: "/images/generations",
  failsByImage: true,
  edits: (body: JsonObject) => editsBetween(body, fitted(body)),
  readUsage,
  extras: searchesOf,
  isFailure: ({ data }: JsonObject) => !Array.isArray(data),
};

export const imageGeneration: UpstreamOperation = {
  ...operation,
  toUpstream: ({ body }) => (requestedImageCount(body) === 1 ? undefined : inParallel(fitted(body), body)),
};

/** BytePlus has no route for edits: the images to edit are sent with a generation. */
async function editToUpstream(input: CallInput): Promise<UpstreamRequests> {
  refuseMask(input);
  const { image: _image, images: _images, mask: _mask, ...fields } = fitted(input.body);
  const urls = await urlsOf(imageSources(input));
  return inParallel({ ...fields, image: urls.length === 1 ? urls[0] : urls }, input.body);
}

export const imageEdit: UpstreamOperation = { ...operation, toUpstream: editToUpstream };
