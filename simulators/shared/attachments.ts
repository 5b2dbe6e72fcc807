import type { Shape } from "./shape.ts";

/** An image, a file or a sound that came with a message, in whatever way the dialect writes it. */
export interface Attachment {
  readonly kind: "image" | "file" | "audio" | "video";
  /** Null where only an address or an id is given. */
  readonly mediaType: string | null;
  /** Decoded size; null like the media type. */
  readonly bytes: number | null;
  /** Address, or the provider's id of an uploaded file. */
  readonly source: string | null;
}

/** Tokens of one attachment of any size. */
export const tokensPerAttachment = 85;

/** The attachment behind an address, which may be a `data:` URL. */
export function attachmentAt(kind: Attachment["kind"], url: string): Attachment {
  const data = /^data:([^;,]*)[^,]*;base64,/.exec(url);
  if (data === null) return { kind, mediaType: null, bytes: null, source: url };
  return inlineAttachment(kind, data[1] ?? "", url.slice(data[0].length));
}

/** The attachment that base64 text holds. */
export function inlineAttachment(kind: Attachment["kind"], mediaType: string, base64: string): Attachment {
  return { kind, mediaType, bytes: Buffer.from(base64, "base64").length, source: null };
}

/** True for text that is base64 and nothing else. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/** The simulated model's description of an image: `image/png (68 bytes)`, or the URL. */
export function describeAttachment({ kind, mediaType, bytes, source }: Attachment): string {
  if (source !== null) return `${kind} ${source}`;
  return `${mediaType ?? kind} (${bytes ?? 0} bytes)`;
}

/** The base64 behind the head of a `data:` URL; null for an address of another kind. */
function inlineData(url: string): string | null {
  const head = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w=.-]+)*;base64,/.exec(url);
  return head === null ? null : url.slice(head[0].length);
}

function urlShape(expected: string, holds: (url: string) => boolean): Shape {
  return (url, field) => {
    if (typeof url !== "string") return { kind: "wrong-type", field, expected: "a string", value: url };
    return holds(url) ? null : { kind: "bad-value", field, message: `expected ${expected}`, value: url };
  };
}

/** A `data:` URL whose base64 can be decoded. */
export const inlineUrl = urlShape("a base64 data URL", (url) => isBase64(inlineData(url) ?? ""));

/** A URL that can be fetched, or a `data:` URL whose base64 can be decoded. */
export const attachmentUrl = urlShape("an http(s) address or a base64 data URL", (url) => {
  return /^https?:\/\/./.test(url) || isBase64(inlineData(url) ?? "");
});
