import { type CallFile, type GatewayError, listOf, objectOf } from "../../core/index.ts";
import type { CallInput } from "../provider.ts";
import { textOf } from "./json.ts";
import { refusal } from "./refusal.ts";

/** An image that goes in: by its address or its data, by the id of a stored file, or as a file of the call's form. */
export type ImageSource = { param: string } & ({ url: string } | { fileId: string } | { file: CallFile });

/** The images of a call, in all the forms that a client may give them. Throws 422 for what names none. */
export function imageSources({ body, files }: CallInput): ImageSource[] {
  return [
    ...sourcesIn(body["image"], "image"),
    ...sourcesIn(body["images"], "images"),
    ...files.filter(({ field }) => field !== "mask").map((file) => ({ param: file.field, file })),
  ];
}

/** The mask of a call, where it has one. */
export function maskSource({ body, files }: CallInput): ImageSource | undefined {
  const file = files.find(({ field }) => field === "mask");
  return file === undefined ? sourcesIn(body["mask"], "mask")[0] : { param: "mask", file };
}

/** Throws 422 for a call with a mask, at an upstream that knows none. */
export function refuseMask(input: CallInput): void {
  if (maskSource(input) === undefined) return;
  throw refusal("mask", "this upstream edits without masks: say it in the prompt.");
}

/** What an upstream that stores no files answers to the id of one. */
export function unknownFile({ param }: ImageSource): GatewayError {
  return refusal(param, "this upstream has no stored files: send the image itself.");
}

function sourcesIn(value: unknown, param: string): ImageSource[] {
  if (value === undefined || value === null || value === "") return [];
  return Array.isArray(value)
    ? listOf(value).map((one, index) => sourceOf(one, `${param}.${index}`))
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

/** What an image's first bytes say that it is. */
const signatures: readonly [type: string, start: number, bytes: string][] = [
  ["image/png", 0, "\u0089PNG"],
  ["image/jpeg", 0, "\u00ff\u00d8\u00ff"],
  ["image/webp", 8, "WEBP"],
  ["image/gif", 0, "GIF8"],
];

/** A file's bytes as base64, and their type: by the bytes, since many a client names none. */
export async function encodeFile(file: CallFile): Promise<{ mimeType: string; data: string }> {
  const bytes = await file.read();
  const head = bytes.toString("latin1", 0, 16);
  const known = signatures.find(([, start, signature]) => head.startsWith(signature, start))?.[0];
  return { mimeType: known ?? file.contentType ?? "application/octet-stream", data: bytes.toString("base64") };
}

/** The source as an upstream takes it that knows addresses and data URLs alone. */
export async function urlOf(source: ImageSource): Promise<string> {
  if ("url" in source) return source.url;
  if ("fileId" in source) throw unknownFile(source);
  const { mimeType, data } = await encodeFile(source.file);
  return `data:${mimeType};base64,${data}`;
}

/** Encoded one after the other: each may be tens of megabytes. */
export async function urlsOf(sources: readonly ImageSource[]): Promise<string[]> {
  const urls: string[] = [];
  for (const source of sources) urls.push(await urlOf(source));
  return urls;
}
