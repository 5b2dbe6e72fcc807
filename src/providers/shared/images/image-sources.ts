import { type CallFile, type GatewayError, listOf, objectOf } from "../../../core/index.ts";
import type { CallInput } from "../../provider.ts";
import { textOf } from "../json.ts";
import { refusal } from "../refusal.ts";

/** An input image: a URL or data URL, the id of a stored file, or a file of the call's form. */
export type ImageSource = { param: string } & ({ url: string } | { fileId: string } | { file: CallFile });

/** The input images of a call, in all forms that a client may use. Throws 422 for a value that is no image. */
export function imageSources({ body, files }: CallInput): ImageSource[] {
  return [
    ...sourcesIn(body["image"], "image"),
    ...sourcesIn(body["images"], "images"),
    ...files.filter(({ field }) => field !== "mask").map((file) => ({ param: file.field, file })),
  ];
}

/** The mask of a call, if it has one. */
export function maskSource({ body, files }: CallInput): ImageSource | undefined {
  const file = files.find(({ field }) => field === "mask");
  return file === undefined ? sourcesIn(body["mask"], "mask")[0] : { param: "mask", file };
}

/** Throws 422 if the call has a mask, for upstreams that support none. */
export function refuseMask(input: CallInput): void {
  if (maskSource(input) === undefined) return;
  throw refusal("mask", "this upstream edits without masks: describe the area in the prompt.");
}

/** The error for a file id, for upstreams that store no files. */
export function unknownFile({ param }: ImageSource): GatewayError {
  return refusal(param, "this upstream has no stored files: send the image itself.");
}

function sourcesIn(value: unknown, param: string): ImageSource[] {
  if (value === undefined || value === null || value === "") return [];
  return Array.isArray(value)
    ? listOf(value).map((item, index) => sourceOf(item, `${param}.${index}`))
    : [sourceOf(value, param)];
}

function sourceOf(value: unknown, param: string): ImageSource {
  const { image_url, url, file_id } = objectOf(value) ?? {};
  const address = textOf(value) ?? textOf(image_url) ?? textOf(url) ?? textOf(objectOf(image_url)?.["url"]);
  if (address !== undefined) return { param, url: address };
  const fileId = textOf(file_id);
  if (fileId !== undefined) return { param, fileId };
  throw refusal(param, "expected an address or a data URL (image_url), or the id of a file (file_id).");
}

/** The first bytes of image formats. */
const signatures: readonly [type: string, start: number, bytes: string][] = [
  ["image/png", 0, "\u0089PNG"],
  ["image/jpeg", 0, "\u00ff\u00d8\u00ff"],
  ["image/webp", 8, "WEBP"],
  ["image/gif", 0, "GIF8"],
];

/** The media type of an image by its first bytes; undefined if they are none of a format that models read. */
export function imageTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 16);
  return signatures.find(([, start, signature]) => head.startsWith(signature, start))?.[0];
}

/** Encodes a file as base64. Its type is determined by its bytes, because many clients declare none. */
export async function encodeFile(file: CallFile): Promise<{ mimeType: string; data: string }> {
  const bytes = await file.read();
  const mimeType = imageTypeOf(bytes) ?? file.contentType ?? "application/octet-stream";
  return { mimeType, data: bytes.toString("base64") };
}

/** The source as a URL or data URL, for upstreams that accept nothing else. */
export async function urlOf(source: ImageSource): Promise<string> {
  if ("url" in source) return source.url;
  if ("fileId" in source) throw unknownFile(source);
  const { mimeType, data } = await encodeFile(source.file);
  return `data:${mimeType};base64,${data}`;
}

/** Encodes one file after the other, because each may have tens of megabytes. */
export async function urlsOf(sources: readonly ImageSource[]): Promise<string[]> {
  const urls: string[] = [];
  for (const source of sources) urls.push(await urlOf(source));
  return urls;
}
