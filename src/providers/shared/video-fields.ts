/** The fields of a video request in OpenAI's terms, for upstreams with other ones. */
import {
  type JsonObject,
  objectOf,
  ReferenceList,
  type ObjectReference,
  type VideoOperation,
} from "../../core/index.ts";
import type { CallInput } from "../provider.ts";
import { type ImageSource, encodeFile, urlOf } from "./images/image-sources.ts";
import { textOf } from "./json.ts";
import { refusal } from "./refusal.ts";

/** No upstream makes longer videos in one job. */
const SECONDS_MAX = 3_600;

/** The gateway's own fields, which no upstream gets. */
const ownVideoFields = ["webhook_url", "provider"] as const;

/** A length in whole seconds, as a number or as text; undefined if absent. Throws 422 for anything else. */
export function readSeconds(value: unknown, param: string): number | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const seconds = typeof value === "string" && /^\d{1,4}$/.test(value) ? Number(value) : value;
  if (typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 1 && seconds <= SECONDS_MAX)
    return seconds;
  throw refusal(param, `expected whole seconds from 1 to ${SECONDS_MAX}.`);
}

/** Width and height. */
export interface VideoSize {
  width: number;
  height: number;
}

/** The size `<width>x<height>`; undefined if absent, or left to the provider. Throws 422 for anything else. */
export function readSize(value: unknown): VideoSize | undefined {
  if (value === undefined || value === null || value === "" || isAuto(value)) return undefined;
  const [, width = 0, height = 0] = (/^(\d{2,5})x(\d{2,5})$/.exec(textOf(value) ?? "") ?? []).map(Number);
  if (width === 0 || height === 0) throw refusal("size", "expected a width and a height, such as 1280x720.");
  return { width, height };
}

/** Whether the provider chooses the size. */
export function isAuto(size: unknown): boolean {
  return size === "auto";
}

/**
 * The billed length of a video in milliseconds: its own, as far as it is known, whatever was asked for. The length of an
 * extension is that of the whole, of which no more than the added part is billed.
 */
export function billedMs(operation: VideoOperation, asked: number, own: number | undefined): number {
  if (own === undefined) return asked;
  return operation === "video_extension" ? Math.min(asked, own) : own;
}

/** The name of a size by its shorter side: `720p`. */
export function resolutionOf({ width, height }: VideoSize): string {
  return `${Math.min(width, height)}p`;
}

/** How far a size may be from an upstream's ratio or resolution. */
const TOLERANCE = 0.1;

/**
 * OpenAI's size as a resolution and a ratio of the upstream. Throws 422 if none is close.
 */
export function fitSize(
  size: VideoSize,
  { resolutions, ratios }: { resolutions: readonly string[]; ratios: readonly string[] },
): { resolution: string; ratio: string } {
  const { width, height } = size;
  const shorter = Math.min(width, height);
  const resolution = nearest(resolutions, (name) => Math.abs(Number.parseInt(name, 10) / shorter - 1));
  const ratio = nearest(ratios, (name) => {
    const [across = 1, down = 1] = name.split(":").map(Number);
    return Math.abs(width / height / (across / down) - 1);
  });
  if (resolution !== undefined && ratio !== undefined) return { resolution, ratio };
  throw refusal("size", `this upstream makes videos of ${ratios.join(", ")} at ${resolutions.join(", ")}.`);
}

function nearest(names: readonly string[], distanceOf: (name: string) => number): string | undefined {
  const [best] = names.toSorted((a, b) => distanceOf(a) - distanceOf(b));
  return best !== undefined && distanceOf(best) <= TOLERANCE ? best : undefined;
}

/** The image that a video begins with, in OpenAI's field: a file, an address, or an object that has either. */
export function inputReference({ body, files }: CallInput): ImageSource | undefined {
  const file = files.find(({ field }) => field === "input_reference");
  if (file !== undefined) return { param: "input_reference", file };
  const value = body["input_reference"];
  if (value === undefined || value === null || value === "") return undefined;
  const { image_url, url, file_id } = objectOf(value) ?? {};
  const address = textOf(value) ?? textOf(image_url) ?? textOf(url) ?? textOf(objectOf(image_url)?.["url"]);
  if (address !== undefined) return { param: "input_reference", url: address };
  const fileId = textOf(file_id);
  if (fileId !== undefined) return { param: "input_reference", fileId };
  throw refusal("input_reference", "expected an address or a data URL (image_url), or the id of a file (file_id).");
}

/** A source in JSON: `{ url }` or `{ file_id }`. */
export async function referenceOf(source: ImageSource): Promise<JsonObject> {
  return "fileId" in source ? { file_id: source.fileId } : { url: await urlOf(source) };
}

/** A form's file as a data URL. */
export async function dataUrlOf({ files }: CallInput, field: string): Promise<string | undefined> {
  const file = files.find((each) => each.field === field);
  if (file === undefined) return undefined;
  const { mimeType, data } = await encodeFile(file);
  return `data:${mimeType};base64,${data}`;
}

/** The fields of a body without the gateway's own and others; null counts as absent. */
export function fieldsWithout(body: JsonObject, names: readonly string[]): JsonObject {
  const hidden = new Set<string>([...ownVideoFields, ...names]);
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !hidden.has(name) && value !== undefined && value !== null),
  );
}

/** Throws 422 for a field that would deliver the result past the gateway. */
export function refuseDelivery(body: JsonObject, path: string): void {
  const value = path.split(".").reduce<unknown>((object, name) => objectOf(object)?.[name], body);
  if (value === undefined || value === null) return;
  throw refusal(path, "the gateway delivers the result itself: leave it out, or set webhook_url to be notified.");
}

/** The stored files that the media fields of a body refer to; a field is one reference or a list of them. */
export function mediaReferences(body: JsonObject, fields: readonly string[]): readonly ObjectReference[] {
  const list = new ReferenceList();
  const add = (value: unknown, param: string): void => {
    const object = objectOf(value);
    if (object === undefined) list.addUrl(value, param);
    else {
      list.addPart(object, param);
      if (object["image"] !== undefined) add(object["image"], `${param}.image`);
    }
  };
  for (const field of fields) {
    const value = body[field];
    if (Array.isArray(value)) value.forEach((each, index) => add(each, `${field}.${index}`));
    else if (value !== undefined && value !== null) add(value, field);
  }
  return list.all;
}
