import type { OpaqueText, SizeOf } from "../../bodies/index.ts";
import {
  IMAGE_TOKENS_MAX,
  type CallFile,
  GatewayError,
  type MediaVariant,
  MESSAGE_TOKENS_MAX,
  tokensOfBytes,
  type WorkBound,
} from "../../core/index.ts";
import { SEQUENCE_MAX } from "./request.ts";

/** The fields of a generation or an edit that determine its cost. */
export interface ImagesBody {
  prompt: OpaqueText;
  n?: number | null | undefined;
  size?: string | null | undefined;
  quality?: string | null | undefined;
  image?: unknown;
  images?: unknown;
  mask?: unknown;
  sequential_image_generation?: string | null | undefined;
  sequential_image_generation_options?: { max_images?: number | null | undefined } | null | undefined;
}

/** The fields whose size is the size of the input: a prompt, and images that may be megabytes of base64. */
export const opaqueFields = ["prompt", "image", "images", "mask"] as const;

/** Tokens of an image, if an upstream reports none. */
const IMAGE_TOKENS_LIKELY = 1_000;

/**
 * As in `boundChat`: a token contains at least one byte. The output is bounded by the model's price per image. An
 * upstream that makes one image per call gets `n` requests, and reads the input in each.
 */
export function boundImages(body: ImagesBody, sizeOf: SizeOf, files: readonly CallFile[]): WorkBound {
  const count = requestedImageCount(body);
  const text = sizeOf(body.prompt);
  const images = imagesIn(body, files);
  const pictures = images + (hasMask(body, files) ? 1 : 0);
  const each = text + pictures * IMAGE_TOKENS_MAX + MESSAGE_TOKENS_MAX;
  const calls = body.n ?? 1;
  return {
    inputTokens: each * calls,
    inputParts: { inputImage: pictures * IMAGE_TOKENS_MAX * calls },
    outputTokens: undefined,
    outputBuckets: ["outputImage"],
    choices: count,
    inputs: calls,
    expectedInput: { input: tokensOfBytes(text), inputImage: pictures * IMAGE_TOKENS_LIKELY },
    inputUnits: { inputImages: images },
    outputImages: { count, variant: requestedVariant(body) },
  };
}

/** Throws 422 for an edit without an image. */
export function boundImageEdit(body: ImagesBody, sizeOf: SizeOf, files: readonly CallFile[]): WorkBound {
  if (imagesIn(body, files) > 0) return boundImages(body, sizeOf, files);
  throw new GatewayError("validation_failed", "image: an edit needs an image.", { param: "image" });
}

/** Size and quality in the client's terms, if given. */
export function requestedVariant({ size, quality }: ImagesBody): MediaVariant {
  return { ...given("size", size), ...given("quality", quality) };
}

function given(name: "size" | "quality", value: string | null | undefined): MediaVariant {
  return value === null || value === undefined || value === "auto" ? {} : { [name]: value };
}

function requestedImageCount(body: ImagesBody): number {
  const sequence = body.sequential_image_generation === "auto";
  const each = sequence ? (body.sequential_image_generation_options?.max_images ?? SEQUENCE_MAX) : 1;
  return (body.n ?? 1) * each;
}

function imagesIn({ image, images }: ImagesBody, files: readonly CallFile[]): number {
  return lengthOf(image) + lengthOf(images) + files.filter(({ field }) => field !== "mask").length;
}

function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return value === undefined || value === null || value === "" ? 0 : 1;
}

function hasMask({ mask }: ImagesBody, files: readonly CallFile[]): boolean {
  return lengthOf(mask) > 0 || files.some(({ field }) => field === "mask");
}
