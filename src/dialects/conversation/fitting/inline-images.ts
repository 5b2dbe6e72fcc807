/** Images and documents that a client gives by their addresses, for an upstream that takes their bytes alone. */
import { isStoredUrl } from "../../../core/index.ts";
import type { Conversation } from "../conversation.ts";
import type { FilePart, Part, Source } from "../parts.ts";

/** The address of an image or of a document, and its path in the client's body. */
export interface ImageAddress {
  url: string;
  at: string;
  /** Whether it may be a PDF, a text or an image, and not an image alone. */
  isDocument: boolean;
  /** How many parts have it: each of them gets the bytes. */
  uses: number;
}

/** The kinds of parts whose addresses an upstream does not take. */
export type FetchedKinds = readonly ("image" | "file")[];

type Base64Source = Extract<Source, { kind: "base64" }>;

/** Fetched images and documents, by their addresses, with how many parts have each. */
export type FetchedImages = ReadonlyMap<string, { source: Base64Source; uses: number }>;

/** The different addresses of images and documents in a conversation. */
export function imageAddresses({ turns }: Conversation, kinds: FetchedKinds): ImageAddress[] {
  const found = new Map<string, ImageAddress>();
  const look = (part: Part): Part => {
    const url = addressOf(part, kinds);
    if (url === undefined) return part;
    const known = found.get(url);
    if (known !== undefined) known.uses += 1;
    else found.set(url, { url, at: part.at ?? "messages", isDocument: part.kind === "file", uses: 1 });
    return part;
  };
  for (const { parts } of turns) for (const part of parts) eachPart(part, look);
  return [...found.values()];
}

/** The conversation with the bytes of its images and documents. Parts with the same address share one text. */
export function withFetchedImages(conversation: Conversation, images: FetchedImages): Conversation {
  const documents = new Map<string, FilePart["source"]>();
  const inline = (part: Part): Part => {
    const url = addressOf(part, ["image", "file"]);
    const source = url === undefined ? undefined : images.get(url)?.source;
    if (url === undefined || source === undefined) return part;
    if (part.kind === "image") return { ...part, source };
    if (part.kind !== "file") return part;
    if (source.mediaType.startsWith("image/")) return { kind: "image", at: part.at, source };
    const document = documents.get(url) ?? documentOf(source);
    documents.set(url, document);
    return { ...part, source: document };
  };
  const turns = conversation.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => eachPart(part, inline)),
  }));
  return { ...conversation, turns };
}

function addressOf(part: Part, kinds: FetchedKinds): string | undefined {
  if ((part.kind !== "image" && part.kind !== "file") || !kinds.includes(part.kind)) return undefined;
  const { source } = part;
  return source.kind === "url" && isImageAddress(source.url) ? source.url : undefined;
}

/** The text of a document that is one. */
function documentOf(source: Base64Source): FilePart["source"] {
  if (!isText(source.mediaType)) return source;
  return { kind: "text", text: Buffer.from(source.data, "base64").toString("utf8") };
}

const isText = (mediaType: string): boolean => mediaType.startsWith("text/") || mediaType === "application/json";

/** The bytes of fetched texts, in each part that has one. Each may be a token: their addresses tell nothing about them. */
export function fetchedTextBytes(images: FetchedImages): number {
  const texts = [...images.values()].filter(({ source }) => isText(source.mediaType));
  return texts.reduce((sum, { source, uses }) => sum + Math.floor((source.data.length * 3) / 4) * uses, 0);
}

/** Whether a URL is one that is fetched: providers read others from stores of their own. */
export function isImageAddress(url: unknown): boolean {
  return typeof url === "string" && /^https?:/i.test(url) && !isStoredUrl(url);
}

function eachPart(part: Part, change: (part: Part) => Part): Part {
  if (part.kind === "tool-result") return { ...part, content: part.content.map((one) => eachPart(one, change)) };
  if (part.kind === "file" && part.source.kind === "parts") {
    const parts = part.source.parts.map((one) => eachPart(one, change));
    return { ...part, source: { kind: "parts", parts } };
  }
  return change(part);
}
