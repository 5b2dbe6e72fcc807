import type { Dialect } from "../../core/index.ts";
import type { Signature } from "./parts.ts";
import type { TranslationTarget } from "./translation.ts";

/**
 * A signature that a client stores for an upstream of another dialect is tagged with its origin:
 * `tollgate.<origin>.<use>.<value>`. The client returns it unread, and it is sent to its origin only. A signature
 * without a tag was made by an upstream of the client's own dialect, which the client called directly.
 */
const tagPrefix = "tollgate.";
const quotedTagPrefix = `"${tagPrefix}`;

/** Gemini's signatures are bytes in base64. The tag is nine bytes long, so its base64 begins that of the whole. */
const taggedBase64 = Buffer.from(tagPrefix).toString("base64");
const quotedTaggedBase64 = `"${taggedBase64}`;

/** A JSON string that begins like a tagged signature, or like a summary of ours, which ordinary text does not. */
const taggedText = /(?<!\\)"tollgate\.[^".]*\.(?:thought|cipher|call|compaction)\./;

/** A JSON body; long strings in its text may be truncated. */
interface TaggedBody {
  bytes: Buffer;
  text: string;
}

/** Whether a JSON body contains a tagged signature, or a summary that an upstream could not read. */
export function hasTaggedSignature({ bytes, text }: TaggedBody, dialect: Dialect): boolean {
  if (dialect === "gemini") return text.includes(quotedTaggedBase64);
  return text.includes(quotedTagPrefix) && taggedText.test(bytes.toString("latin1"));
}

/** The use of a signature: a thought, the encrypted thought, or the following tool call. */
export type SignatureUse = "thought" | "cipher" | "call";

const uses: readonly string[] = ["thought", "cipher", "call"] satisfies SignatureUse[];

/** A signature as bytes in base64: one with a tag is text otherwise. */
export function tagAsBytes(signature: Signature, use: SignatureUse, dialect: Dialect): string {
  const text = tagSignature(signature, use, dialect);
  return text.startsWith(tagPrefix) ? Buffer.from(text).toString("base64") : text;
}

/** Backwards. */
export function untagBytes(text: string, dialect: Dialect): Signature {
  const plain = text.startsWith(taggedBase64) ? Buffer.from(text, "base64").toString("utf8") : text;
  return untagSignature(plain, dialect).signature;
}

export function tagSignature({ origin, value }: Signature, use: SignatureUse, dialect: Dialect): string {
  return origin === nativeOrigin(dialect)
    ? value
    : `${tagPrefix}${encodeURIComponent(origin).replaceAll(".", "%2E")}.${use}.${value}`;
}

/** The origin and use of a signature. */
export function untagSignature(
  text: string,
  dialect: Dialect,
): { signature: Signature; use: SignatureUse | undefined } {
  const [, origin, use, value] = /^tollgate\.([^.]*)\.([a-z]+)\.([^]*)$/.exec(text) ?? [];
  if (origin === undefined || value === undefined || !isUse(use)) {
    return { signature: { origin: nativeOrigin(dialect), value: text }, use: undefined };
  }
  return { signature: { origin: decodeOrigin(origin), value }, use };
}

/** The origin of an untagged signature. */
export function nativeOrigin(dialect: Dialect): string {
  return `native:${dialect}`;
}

/** Whether a signature is the target's own; only these may be sent to it. */
export function belongsTo(signature: Signature | undefined, target: TranslationTarget, dialect: Dialect): boolean {
  return signature !== undefined && (signature.origin === target.origin || signature.origin === nativeOrigin(dialect));
}

/**
 * Whether a client has stored this text for a provider's own API: signatures that it got of the chat endpoint are objects in
 * JSON. `origin`: the provider.
 */
export function isOwnSignature(text: unknown, origin: string): boolean {
  if (typeof text !== "string" || !text.startsWith(tagPrefix)) return false;
  const { value, origin: maker } = untagSignature(text, "chat").signature;
  return maker === origin && value !== "" && !value.startsWith("{");
}

function isUse(use: string | undefined): use is SignatureUse {
  return use !== undefined && uses.includes(use);
}

/** An invented tag decodes to an unknown origin. */
function decodeOrigin(origin: string): string {
  try {
    return decodeURIComponent(origin);
  } catch {
    return origin;
  }
}
