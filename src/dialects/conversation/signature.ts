import type { Dialect } from "../../core/index.ts";
import type { Signature } from "./parts.ts";
import type { TranslationTarget } from "./translation.ts";

/**
 * A signature that a client keeps for another dialect's upstream says whose it is: `tollgate.<origin>.<use>.<value>`. The
 * client carries it without a look; when it comes back, it goes to its origin alone. One without this mark was made by an
 * upstream of the client's own dialect, to which the client then spoke directly.
 */
const tagPrefix = "tollgate.";
const quotedTagPrefix = `"${tagPrefix}`;

/** A whole text in JSON that begins as a sealed signature does: nobody's prose. */
const taggedText = /(?<!\\)"tollgate\.[^".]*\.(?:thought|cipher|call)\./;

/** A JSON body: of its text some long strings may be left out but for their beginnings. */
interface TaggedBody {
  bytes: Buffer;
  text: string;
}

/** Whether a JSON body has a sealed signature in it. */
export function hasTaggedSignature({ bytes, text }: TaggedBody): boolean {
  return text.includes(quotedTagPrefix) && taggedText.test(bytes.toString("latin1"));
}

/** What a signature is for: a thought, the thought in cipher, or the tool call that follows. */
export type SignatureUse = "thought" | "cipher" | "call";

const uses: readonly string[] = ["thought", "cipher", "call"] satisfies SignatureUse[];

export function tagSignature({ origin, value }: Signature, use: SignatureUse, dialect: Dialect): string {
  return origin === nativeOrigin(dialect)
    ? value
    : `${tagPrefix}${encodeURIComponent(origin).replaceAll(".", "%2E")}.${use}.${value}`;
}

/** Whose signature this is and what for. */
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

/** The origin of what carries no mark. */
export function nativeOrigin(dialect: Dialect): string {
  return `native:${dialect}`;
}

/** Whether a signature is the target's own, the only ones that it may be sent. */
export function belongsTo(signature: Signature | undefined, target: TranslationTarget, dialect: Dialect): boolean {
  return signature !== undefined && (signature.origin === target.origin || signature.origin === nativeOrigin(dialect));
}

function isUse(use: string | undefined): use is SignatureUse {
  return use !== undefined && uses.includes(use);
}

/** What a client made up decodes to something that is nobody's. */
function decodeOrigin(origin: string): string {
  try {
    return decodeURIComponent(origin);
  } catch {
    return origin;
  }
}
