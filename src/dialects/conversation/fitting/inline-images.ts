/** Images that a client gives by their addresses, for an upstream that takes their bytes alone. */
import { isStoredUrl } from "../../../core/index.ts";
import type { Conversation } from "../conversation.ts";
import type { Part, Source } from "../parts.ts";

/** The address of an image, and its path in the client's body. */
export interface ImageAddress {
  url: string;
  at: string;
}

/** Fetched images, by their addresses. */
export type FetchedImages = ReadonlyMap<string, Extract<Source, { kind: "base64" }>>;

/** The different addresses of images in a conversation. */
export function imageAddresses({ turns }: Conversation): ImageAddress[] {
  const found = new Map<string, ImageAddress>();
  const look = (part: Part): Part => {
    const url = part.kind === "image" ? addressOf(part.source) : undefined;
    if (url !== undefined && !found.has(url)) found.set(url, { url, at: part.at ?? "messages" });
    return part;
  };
  for (const { parts } of turns) for (const part of parts) eachPart(part, look);
  return [...found.values()];
}

/** The conversation with the bytes of its images. */
export function withFetchedImages(conversation: Conversation, images: FetchedImages): Conversation {
  const inline = (part: Part): Part => {
    const url = part.kind === "image" ? addressOf(part.source) : undefined;
    const source = url === undefined ? undefined : images.get(url);
    return part.kind === "image" && source !== undefined ? { ...part, source } : part;
  };
  const turns = conversation.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => eachPart(part, inline)),
  }));
  return { ...conversation, turns };
}

function addressOf(source: Source): string | undefined {
  return source.kind === "url" && isImageAddress(source.url) ? source.url : undefined;
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
