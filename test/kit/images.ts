/** Images in whole-system tests: input files, and received images. */
import { decodedImage } from "../../simulators/testing/media.ts";

/** An entry of an answer's `data`, as far as the tests read it. */
export interface ShownImage {
  b64_json?: string | undefined;
  url?: string | undefined;
}

/** Format and size of each image, by the runtime's own decoder, such as `png 1024x1024`; addresses are fetched. */
export function decoded(data: readonly ShownImage[] | undefined): Promise<string[]> {
  return Promise.all((data ?? []).map(async (image) => decodedImage(await bytesOf(image))));
}

async function bytesOf({ b64_json, url }: ShownImage): Promise<Uint8Array> {
  if (b64_json !== undefined) return Buffer.from(b64_json, "base64");
  if (url === undefined) throw new Error("neither an image nor its address");
  return (await fetch(url)).bytes();
}

/** Prices of models with a fault in their name, which have no list price because of it: the list's own. */
export const faultPrices = {
  "openai/gpt-image-*+*": { input_mtok: 5, input_image_mtok: 10, output_mtok: 40 },
  "openai/dall-e-3+*": { image: 0.04 },
  "xai/*+*": { image: 0.02 },
  "byteplus/*+*": { image: 0.035 },
  "google/*+*": { input_mtok: 1.5, output_mtok: 7.5, output_image_mtok: 30 },
};
