import { z } from "zod";
import { modelId, type OpaqueText, opaqueText, wholeNumber } from "../../bodies/index.ts";
import { objectOf } from "../../core/index.ts";

/** An input image in JSON: its URL or its data, or an object that contains either or names a stored file. */
type ImageReference = OpaqueText | Readonly<Record<string, unknown>>;

function isReference(value: unknown): boolean {
  return typeof value === "string" || objectOf(value) !== undefined;
}

function areReferences(value: unknown): boolean {
  return Array.isArray(value) && value.every(isReference);
}

const referenceTypes = [{ type: "string" }, { type: "object" }];
const listOfReferences = { type: "array", items: { anyOf: referenceTypes } };
const noReference = { type: "null" };

/** Checked by hand: a list of schemas would create an issue for each of a million entries. */
const reference = z
  .custom<ImageReference>(isReference, "expected an address, a data URL, or an object with image_url, url or file_id")
  .nullish()
  .meta({ type: ["string", "object", "null"], anyOf: [...referenceTypes, noReference] });

const references = z
  .custom<readonly ImageReference[]>(areReferences, "expected a list of images")
  .nullish()
  .meta({ type: ["array", "null"], anyOf: [listOfReferences, noReference] });

const oneOrMore = z
  .custom<ImageReference | readonly ImageReference[]>(
    (value) => isReference(value) || areReferences(value),
    "expected an image or a list of images",
  )
  .nullish()
  .meta({
    type: ["string", "object", "array", "null"],
    anyOf: [...referenceTypes, listOfReferences, noReference],
  });

/** No provider makes more images per call; a provider that makes a single image gets this many requests. */
const IMAGES_MAX = 10;

/** BytePlus's own limit of a sequence. */
export const SEQUENCE_MAX = 15;

const word = z.string().nullish();

const members = {
  model: modelId.describe("Provider-prefixed model id, such as openai/gpt-image-1."),
  prompt: opaqueText,
  n: wholeNumber(1, IMAGES_MAX).nullish().describe("How many images."),
  size: word.describe("Width by height, such as 1024x1024; auto; or the provider's own word, such as 2K."),
  quality: word,
  response_format: word.describe("url or b64_json, where the provider lets it be chosen."),
  output_format: word,
  background: word,
  stream: z.boolean().nullish(),
  partial_images: wholeNumber(0).nullish(),
  watermark: z.boolean().nullish().describe("BytePlus only."),
  image: oneOrMore.describe("What is edited, by its address or as a data URL."),
  sequential_image_generation: word.describe("BytePlus only: auto makes a sequence of images."),
  sequential_image_generation_options: z.looseObject({ max_images: wholeNumber(1, SEQUENCE_MAX).nullish() }).nullish(),
};

/** The body of an image generation, as far as the gateway must understand it to bound and route it. */
export const imageGenerationRequest = z.looseObject(members).meta({ id: "ImageGenerationRequest" });

export type ImageGenerationRequest = z.output<typeof imageGenerationRequest>;

/**
 * The body of an edit in JSON. Whether it has an image is checked together with the files of a form (`boundImageEdit`).
 */
export const imageEditRequest = z
  .looseObject({
    ...members,
    images: references.describe("What is edited: objects with image_url or file_id."),
    mask: reference,
  })
  .meta({
    id: "ImageEditRequest",
    anyOf: [
      { required: ["image"], properties: { image: { type: ["string", "object"], minLength: 1 } } },
      { required: ["image"], properties: { image: { type: "array", minItems: 1 } } },
      { required: ["images"], properties: { images: { type: "array", minItems: 1 } } },
    ],
  });

export type ImageEditRequest = z.output<typeof imageEditRequest>;

/** Fields of a form with numbers, and with booleans. */
const numbers = ["n", "partial_images", "output_compression", "seed", "guidance_scale"];
const flags = ["stream", "watermark"];

/** The fields of a form with their types. A value that does not fit its type stays, for the schema to refuse. */
function readFields(fields: unknown): unknown {
  const read: Record<string, unknown> = { ...objectOf(fields) };
  for (const name of numbers) {
    const text = read[name];
    if (typeof text === "string" && /^-?\d+(?:\.\d+)?$/.test(text)) read[name] = Number(text);
  }
  for (const name of flags) {
    const text = read[name];
    if (text === "true" || text === "false") read[name] = text === "true";
  }
  return read;
}

/** The text fields of an edit as a form; its files are separate. */
export const imageEditForm = z.preprocess(readFields, imageEditRequest);
