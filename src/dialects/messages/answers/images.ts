import { type ImagePart, sourceOfAnswer, urlOfSource } from "../../conversation/index.ts";

/** Answers of this dialect have no images: one is a text block, in Markdown, which every client accepts. */
export function writeImage({ source }: ImagePart): string {
  return `![image](${source.kind === "stored" ? source.id : urlOfSource(source)})`;
}

/** The characters before the data of an image that `writeImage` has written. */
const IMAGE_START = "![image](data:image/";

/** The image that `writeImage` has written; undefined for any other text. */
export function readImage(text: string): ImagePart | undefined {
  if (!text.startsWith(IMAGE_START) || !text.endsWith(")")) return undefined;
  const source = sourceOfAnswer(text.slice("![image](".length, -1));
  return source.kind === "base64" ? { kind: "image", source } : undefined;
}
