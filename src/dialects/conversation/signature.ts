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

/** A JSON string that begins like a tagged signature, or like a summary of ours, which ordinary text does not. */
const taggedText = /(?<!\\)"tollgate\.[^".]*\.(?:thought|cipher|call|compaction)\./;

/** A JSON body; long strings in its text may be truncated. */
interface TaggedBody {
  bytes: Buffer;
  text: string;
}

/** Whether a JSON body contains a tagged signature, or a summary that an upstream could not read. */
export function hasTaggedSignature({ bytes, text }: TaggedBody): boolean {
  return text.includes(quotedTagPrefix) && taggedText.test(bytes.toString("latin1"));
}

/** The use of a signature: a thought, the encrypted thought, or the following tool call. */
export type SignatureUse = "thought" | "cipher" | "call";

const uses: readonly string[] = ["thought", "cipher", "call"] satisfies SignatureUse[];

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
