import { refusal } from "../refusal.ts";

/** The sizes of an upstream that takes no width and height. */
export interface ImageSizes {
  /** The upstream's ratios: "16:9". */
  ratios: readonly string[];
  /** The upstream's resolutions, each with the side of a square that has as many pixels, in ascending order. */
  resolutions: Readonly<Record<string, number>>;
}

/** A size in the upstream's terms. The upstream chooses absent members. */
export interface UpstreamSize {
  ratio?: string;
  resolution?: string;
}

/** The tolerated difference from the upstream's ratio: 1792 by 1024 is 1.6% from 16:9. */
const RATIO_TOLERANCE = 0.02;

/**
 * The pixels that count as a resolution, relative to its square: from 0.475 to 1.9 times as many. So 1792 by 1024 is
 * still "1K", and 1920 by 1080 is "2K".
 */
const PIXEL_SHARE_MIN = 0.475;
const PIXEL_SHARE_MAX = 1.9;

/**
 * Converts OpenAI's `size` to the upstream's terms. A ratio or a resolution of the upstream is accepted as well. Throws
 * 422 if none of the upstream's sizes is close.
 */
export function readImageSize(size: unknown, sizes: ImageSizes): UpstreamSize {
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

function nearestTo(size: string, { ratios, resolutions }: ImageSizes): UpstreamSize | undefined {
  const [, width = 0, height = 0] = (/^(\d{1,5})x(\d{1,5})$/.exec(size) ?? []).map(Number);
  if (width === 0 || height === 0) return undefined;
  const ratio = ratios.find((name) => Math.abs(width / height / valueOf(name) - 1) <= RATIO_TOLERANCE);
  const resolution = Object.entries(resolutions).find(([, side]) => {
    const share = (width * height) / side ** 2;
    return share > PIXEL_SHARE_MIN && share <= PIXEL_SHARE_MAX;
  })?.[0];
  return ratio === undefined || resolution === undefined ? undefined : { ratio, resolution };
}

function valueOf(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(":").map(Number);
  return width / height;
}
