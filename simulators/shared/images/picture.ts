import type { Identity } from "../identity.ts";
import type { ImageFormat, Picture, Size } from "./formats.ts";
import { encodeJpeg } from "./jpeg.ts";
import { encodePng } from "./png.ts";
import { encodeWebp } from "./webp.ts";

const encoders = { png: encodePng, jpeg: encodeJpeg, webp: encodeWebp };

/** The bytes of a picture. */
export function encodePicture(picture: Picture, format: ImageFormat): Buffer {
  return encoders[format](picture);
}

/** An image whose colour depends on the request and the label. */
export function pictureOf(identity: Identity, label: string, size: Size, transparent = false): Picture {
  const shade = (name: string): number => 32 + identity.number(`${name} of ${label}`, 192);
  return { ...size, colour: [shade("red"), shade("green"), shade("blue")], transparent };
}

/** A format by its name; PNG for unknown names. */
export function imageFormat(name: unknown): ImageFormat {
  return name === "jpeg" || name === "webp" ? name : "png";
}

/** Reads `1024x768`; null for anything else. */
export function parseSize(text: unknown): Size | null {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(String(text)) ?? [];
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) };
}

/** Writes a size as `1024x768`. */
export function sizeText({ width, height }: Size): string {
  return `${width}x${height}`;
}

const sidePixels = 16;

/** The size of a ratio such as `16:9` with about as many pixels as a square of that side, in steps of 16 pixels. */
export function sizeOfRatio(ratio: string, side: number): Size {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return { width: stepped(side * Math.sqrt(across / down)), height: stepped(side * Math.sqrt(down / across)) };
}

function stepped(length: number): number {
  return Math.max(sidePixels, Math.round(length / sidePixels) * sidePixels);
}
