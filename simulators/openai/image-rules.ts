import { badValue, type Check, isFlag, isInteger, isOneOf, isText, type Problem } from "../shared/check.ts";
import { isGiven, type JsonObject } from "../shared/json.ts";
import type { Size } from "../shared/images/formats.ts";
import { parseSize } from "../shared/images/picture.ts";
import type { ErrorAnswer } from "../shared/types.ts";
import { openaiErrors, openaiRefusal } from "./errors.ts";

/** The capabilities of a family of image models. */
interface Family {
  /** Null where every size within limits is taken. */
  readonly sizes: readonly string[] | null;
  readonly qualities: readonly string[];
  readonly imagesMax: number;
  readonly promptMax: number;
  /**
   * Models that are billed by tokens always answer base64 and accept the file format; the others accept the kind of
   * answer.
   */
  readonly tokens: boolean;
  readonly transparent: boolean;
}

const squares = ["256x256", "512x512", "1024x1024"];
const byTokens = { imagesMax: 10, promptMax: 32_000, tokens: true, transparent: true };
const byImage = { tokens: false, transparent: false };
const efforts = ["low", "medium", "high", "auto"];

const families = {
  "dall-e-2": { ...byImage, sizes: squares, qualities: ["standard"], imagesMax: 10, promptMax: 1_000 },
  "dall-e-3": {
    ...byImage,
    sizes: ["1024x1024", "1792x1024", "1024x1792"],
    qualities: ["standard", "hd"],
    imagesMax: 1,
    promptMax: 4_000,
  },
  fixed: { ...byTokens, sizes: ["1024x1024", "1536x1024", "1024x1536"], qualities: efforts },
  free: { ...byTokens, sizes: null, qualities: [...efforts, "xhigh", "max"] },
} satisfies { readonly [name: string]: Family };

/** The family of a model: from `gpt-image-2` on sizes are free. */
export function familyOf(model: string): Family {
  if (model.startsWith("dall-e-2")) return families["dall-e-2"];
  if (model.startsWith("dall-e-3")) return families["dall-e-3"];
  return /^(gpt-image-1|chatgpt-image)/.test(model) ? families.fixed : families.free;
}

const commonFields: { readonly [name: string]: Check } = {
  model: isText,
  prompt: isText,
  n: isInteger(1, 10),
  size: isText,
  quality: isText,
  user: isText,
};

/** Fields of a request, as the family has them; the prompt is always needed. */
export function imageFields(family: Family): { readonly [name: string]: Check } {
  if (!family.tokens) return { ...commonFields, response_format: isOneOf("url", "b64_json") };
  return {
    ...commonFields,
    background: isOneOf("transparent", "opaque", "auto"),
    moderation: isOneOf("low", "auto"),
    output_compression: isInteger(0, 100),
    output_format: isOneOf("png", "jpeg", "webp"),
    partial_images: isInteger(0, 3),
    safety_identifier: isText,
    stream: isFlag,
  };
}

/** The first refusal that depends on the model, or null. */
export function refuseImage(body: JsonObject, family: Family): ErrorAnswer | null {
  const problem = refuseOptions(body, family);
  if (problem !== null) return openaiErrors.forProblem(problem);
  const prompt = String(body["prompt"]);
  if (prompt.length > family.promptMax) {
    const message = `Invalid 'prompt': string too long. Expected a string with maximum length ${family.promptMax}, but got a string with length ${prompt.length} instead.`;
    return openaiRefusal(message, "prompt", "string_above_max_length");
  }
  return refuseContent(prompt, family);
}

function refuseOptions(body: JsonObject, family: Family): Problem | null {
  const { size, quality, n, background, output_format: format, output_compression: compression } = body;
  if (isGiven(size) && !takesSize(size, family)) return badValue("size", sizeAdvice(family), size);
  if (isGiven(quality) && !family.qualities.includes(String(quality))) {
    return badValue("quality", `supported values are ${family.qualities.join(", ")}`, quality);
  }
  if (Number(n ?? 1) > family.imagesMax) return badValue("n", `expected at most ${family.imagesMax}`, n);
  if (background === "transparent" && format === "jpeg") {
    return badValue("background", "transparent backgrounds need output_format png or webp", background);
  }
  if (isGiven(compression) && compression !== 100 && (format ?? "png") === "png") {
    return badValue("output_compression", "PNG files are not compressed with losses", compression);
  }
  if (!isGiven(body["partial_images"]) || body["stream"] === true) return null;
  return badValue("partial_images", "only allowed when 'stream' is enabled", body["partial_images"]);
}

const sideMax = 3_840;
const pixelsMax = 3_840 * 2_160;
const ratioMax = 3;

function takesSize(size: unknown, { sizes, tokens }: Family): boolean {
  if (size === "auto") return tokens;
  if (sizes !== null) return sizes.includes(String(size));
  const given = parseSize(size);
  return given !== null && isWithinLimits(given);
}

function isWithinLimits({ width, height }: Size): boolean {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const stepped = width % 16 === 0 && height % 16 === 0;
  return stepped && short > 0 && long / short <= ratioMax && long <= sideMax && width * height <= pixelsMax;
}

function sizeAdvice({ sizes }: Family): string {
  if (sizes !== null) return `supported values are ${sizes.join(", ")}`;
  return "both sides must be divisible by 16, the ratio between 1:3 and 3:1, and at most 3840x2160";
}

/** `refuse:CATEGORY` in the prompt. */
function refuseContent(prompt: string, { tokens }: Family): ErrorAnswer | null {
  if (!/\brefuse:[\w-]+/i.test(prompt)) return null;
  const message = "Your request was rejected by the safety system.";
  if (!tokens) return openaiRefusal(message, null, "content_policy_violation");
  const error = { message, type: "image_generation_user_error", param: null, code: "moderation_blocked" };
  return { status: 400, body: { error } };
}
