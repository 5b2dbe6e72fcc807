import { refusal } from "./refusal.ts";

/** How an upstream is asked for a size that takes no width and height. */
export interface ImageSizes {
  /** Its words for ratios: "16:9". */
  ratios: readonly string[];
  /** Its words for resolutions, with the side of the square that has as many pixels; from small to large. */
  resolutions: Readonly<Record<string, number>>;
}

/** Left out, the upstream chooses. */
export interface NamedSize {
  ratio?: string;
  resolution?: string;
}

/** By how much a ratio may differ from the upstream's: 1792 by 1024 is 1.6% from 16:9. */
const RATIO_TOLERANCE = 0.02;

/**
 * Pixels for which a resolution stands, by its square: from 0.475 to 1.9 times as many, so that 1792 by 1024 is still "1K"
 * and 1920 by 1080 is "2K".
 */
const PIXELS_LEAST = 0.475;
const PIXELS_MOST = 1.9;

/**
 * OpenAI's `size` in the upstream's words; a ratio or a resolution of the upstream's own stands for itself. Throws 422 for
 * what none of its sizes comes close to.
 */
export function readImageSize(size: unknown, sizes: ImageSizes): NamedSize {
  if (size === undefined || size === null || size === "auto") return {};
  if (typeof size === "string") {
    const ratio = sizes.ratios.find((name) => name === size);
    if (ratio !== undefined) return { ratio };
    const resolution = Object.keys(sizes.resolutions).find((name) => name.toLowerCase() === size.toLowerCase());
    if (resolution !== undefined) return { resolution };
    const nearest = nearestTo(size, sizes);
    if (nearest !== undefined) return nearest;
  }
  const resolutions = Object.entries(sizes.resolutions).map(([name, side]) => `${name} (${side}x${side} pixels)`);
  throw refusal(
    "size",
    `this upstream makes images of ${sizes.ratios.join(", ")} at ${resolutions.join(", ")}: ` +
      "give a width and height close to one of them, a ratio, a resolution, or auto.",
  );
}

function nearestTo(size: string, { ratios, resolutions }: ImageSizes): NamedSize | undefined {
  const [, width = 0, height = 0] = (/^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []).map(Number);
  if (width === 0 || height === 0) return undefined;
  const ratio = ratios.find((name) => Math.abs(width / height / valueOf(name) - 1) <= RATIO_TOLERANCE);
  const resolution = Object.entries(resolutions).find(([, side]) => {
    const share = (width * height) / side ** 2;
    return share > PIXELS_LEAST && share <= PIXELS_MOST;
  })?.[0];
  return ratio === undefined || resolution === undefined ? undefined : { ratio, resolution };
}

function valueOf(ratio: string): number {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return across / down;
}
