import { encodeSound, type SoundFormat } from "../shared/audio/sound.ts";
import type { ImageFormat } from "../shared/images/formats.ts";
import { encodePicture } from "../shared/images/picture.ts";
import type { Reply } from "./client.ts";

/** POSTs a form. */
export async function postForm(url: string, form: FormData, headers: Record<string, string> = {}): Promise<Reply> {
  const sent = { authorization: "Bearer good-key", ...headers };
  const response = await fetch(url, { method: "POST", headers: sent, body: form });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** A form of plain fields and files; a list stands for a field that comes several times. */
export function formOf(fields: { readonly [name: string]: string | File | readonly (string | File)[] }): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    const values = typeof value === "string" || value instanceof File ? [value] : value;
    for (const one of values) form.append(name, one);
  }
  return form;
}

/** An image file. */
export function imageFile(width: number, height: number, format: ImageFormat = "png"): File {
  const bytes = encodePicture({ width, height, colour: [10, 20, 30], transparent: true }, format);
  return new File([bytes], `image.${format}`, { type: `image/${format}` });
}

/** The same as a `data:` URL. */
export async function imageUrl(width: number, height: number): Promise<string> {
  const base64 = Buffer.from(await imageFile(width, height).arrayBuffer()).toString("base64");
  return `data:image/png;base64,${base64}`;
}

/** An audio file of a known length. */
export function soundFile(seconds: number, format: SoundFormat = "wav"): File {
  const bytes = encodeSound({ seconds, format, sampleRate: 16_000, bitRate: 32_000 });
  return new File([bytes], `sound.${format}`, { type: `audio/${format}` });
}

/** Format and size of an image, as the runtime's own decoder reads it, such as `png 1024x1024`. */
export async function decodedImage(bytes: Uint8Array | string): Promise<string> {
  const file = typeof bytes === "string" ? Buffer.from(bytes, "base64") : bytes;
  const { format, width, height } = await new Bun.Image(file).metadata();
  return `${format} ${width}x${height}`;
}
