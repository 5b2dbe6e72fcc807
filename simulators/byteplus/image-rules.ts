import {
  badValue,
  type Check,
  isFlag,
  isInteger,
  isList,
  isNumber,
  isOneOf,
  isText,
  type Problem,
} from "../shared/check.ts";
import { isReadableImage } from "../shared/images/links.ts";
import type { Size } from "../shared/images/formats.ts";
import { parseSize, sizeOfRatio } from "../shared/images/picture.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { both, first, record, type Shape, value, values } from "../shared/shape.ts";

/** The capabilities of a generation of Seedream. */
interface Generation {
  /** Names of sizes, with the side of a square of as many pixels. */
  readonly named: { readonly [word: string]: number };
  readonly pixelsMin: number;
  readonly pixelsMax: number;
  /** Several images at once, and streaming. */
  readonly sequences: boolean;
  /** Takes seed and guidance_scale. */
  readonly seeded: boolean;
  /** Takes output_format and tools. */
  readonly formats: boolean;
}

const sides = { "1K": 1_024, "2K": 2_048, "3K": 3_072, "4K": 4_096 };
const largest = 4_096 * 4_096;

const generations: readonly (Generation & { readonly model: RegExp })[] = [
  {
    model: /seedream-3|seededit-3/,
    named: {},
    pixelsMin: 512 * 512,
    pixelsMax: 2_048 * 2_048,
    sequences: false,
    seeded: true,
    formats: false,
  },
  {
    model: /seedream-4-0/,
    named: { "1K": sides["1K"], "2K": sides["2K"], "4K": sides["4K"] },
    pixelsMin: 1_280 * 720,
    pixelsMax: largest,
    sequences: true,
    seeded: false,
    formats: false,
  },
  {
    model: /seedream-4/,
    named: { "2K": sides["2K"], "4K": sides["4K"] },
    pixelsMin: 2_560 * 1_440,
    pixelsMax: largest,
    sequences: true,
    seeded: false,
    formats: false,
  },
];

const newest: Generation = {
  named: { "2K": sides["2K"], "3K": sides["3K"], "4K": sides["4K"] },
  pixelsMin: 2_560 * 1_440,
  pixelsMax: largest,
  sequences: true,
  seeded: false,
  formats: true,
};

/** The generation of a model; an unknown one, also an endpoint, is the newest. */
export function generationOf(model: string): Generation {
  return generations.find((one) => one.model.test(model)) ?? newest;
}

const sourcesMax = 14;
const imagesMax = 15;
const ratioMax = 16;

const isImage: Check = (given) => {
  const fits = typeof given === "string" || (Array.isArray(given) && given.every((one) => typeof one === "string"));
  return fits ? null : "a string or an array of strings";
};

/** Shape of a request, for every generation. */
export const imageShape: Shape = both(
  record(
    {
      ...values({
        model: isText,
        prompt: isText,
        image: isImage,
        size: isText,
        response_format: isOneOf("url", "b64_json"),
        watermark: isFlag,
        stream: isFlag,
        seed: isInteger(-1, 2_147_483_647),
        guidance_scale: isNumber(1, 10),
        sequential_image_generation: isOneOf("auto", "disabled"),
        output_format: isOneOf("png", "jpeg"),
        tools: isList,
      }),
      sequential_image_generation_options: record({ max_images: value(isInteger(1, imagesMax)) }),
      optimize_prompt_options: record({ mode: value(isOneOf("standard", "fast")) }, { open: true }),
    },
    { required: ["model", "prompt"], open: true },
  ),
  checkSources,
);

/** The images that came along. */
export function sourcesOf({ image }: JsonObject): readonly string[] {
  const given = Array.isArray(image) ? image : [image];
  return given.filter((one) => typeof one === "string");
}

function checkSources(given: unknown): Problem | null {
  const sources = sourcesOf(asObject(given));
  if (sources.length > sourcesMax) return badValue("image", `expected at most ${sourcesMax} images`);
  return sources.every(isReadableImage) ? null : badValue("image", "it could not be decoded as an image");
}

/** The restrictions of a generation of Seedream. */
export function refuseForGeneration(body: JsonObject): Problem | null {
  const generation = generationOf(String(body["model"]));
  const { sequences, seeded, formats } = generation;
  const foreign = [
    "n",
    "quality",
    "user",
    "style",
    "background",
    ...(seeded ? [] : ["seed", "guidance_scale"]),
    ...(sequences ? [] : ["sequential_image_generation", "sequential_image_generation_options", "stream"]),
    ...(formats ? [] : ["output_format", "tools"]),
  ];
  const unsupported = first(foreign, (field): Problem | null => {
    if (!isGiven(body[field])) return null;
    return { kind: "unsupported", field, message: `The parameter \`${field}\` is not supported by the model.` };
  });
  return unsupported ?? checkSize(body["size"], generation);
}

function checkSize(size: unknown, { named, pixelsMin, pixelsMax }: Generation): Problem | null {
  if (!isGiven(size) || Object.hasOwn(named, String(size))) return null;
  const given = parseSize(size);
  if (given === null) return badValue("size", `expected WIDTHxHEIGHT${["", ...Object.keys(named)].join(" or ")}`, size);
  const pixels = given.width * given.height;
  if (pixels < pixelsMin) return badValue("size", `image size must be at least ${pixelsMin} pixels`, size);
  if (pixels > pixelsMax) return badValue("size", `image size must be at most ${pixelsMax} pixels`, size);
  const ratio = given.width / given.height;
  return ratio <= ratioMax && ratio >= 1 / ratioMax
    ? null
    : badValue("size", "the ratio must be between 1/16 and 16", size);
}

const ownSize: Size = { width: 2_048, height: 2_048 };

/** The size of the images: with a word for it, the ratio is taken from the prompt. */
export function sizeOf(body: JsonObject): Size {
  const { model, size, prompt } = body;
  const side = generationOf(String(model)).named[String(size)];
  if (side === undefined) return parseSize(size) ?? ownSize;
  return sizeOfRatio(/\b\d{1,2}:\d{1,2}\b/.exec(String(prompt))?.[0] ?? "1:1", side);
}

/** The number of images: as many as the prompt requests (`3 images`), up to the permitted number. */
export function imageCount(body: JsonObject): number {
  if (body["sequential_image_generation"] !== "auto") return 1;
  const options = asObject(body["sequential_image_generation_options"]);
  const allowed = Number(options["max_images"] ?? imagesMax);
  const said = /\b(\d+) images\b/i.exec(String(body["prompt"]))?.[1];
  const wanted = said === undefined ? allowed : Math.max(1, Number(said));
  return Math.max(1, Math.min(wanted, allowed, imagesMax - asArray(sourcesOf(body)).length));
}
