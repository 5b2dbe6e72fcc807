import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import type { RandomBytes } from "../../core/index.ts";
import { SecretError } from "./secret-error.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1";
const KEY_ID_CHARACTERS = 16;

/** A kind of secrets. Each has a key of its own, derived from the same text: one never opens as another. */
interface SecretKind {
  /** What the key is derived for. Never to be changed: stored secrets would not open. */
  label: string;
  /** For messages: `webhook secret`. */
  noun: string;
  /** For messages: how a secret is replaced if its key is lost. */
  remedy: string;
}

/**
 * Encrypts and decrypts secrets with AES-256-GCM. A sealed text is `v1.KEY.DATA`: the id of the key, and the nonce, the
 * ciphertext and the tag in base64. It is bound to its owner, so that a row that was copied to another user does not open.
 */
export class SecretBox {
  readonly #key: Uint8Array;
  readonly #keyId: string;
  readonly #kind: SecretKind;

  /** Derives the key from a text with at least its entropy. */
  constructor(text: string, kind: SecretKind) {
    this.#kind = kind;
    this.#key = new Uint8Array(hkdfSync("sha256", text, "", kind.label, KEY_BYTES));
    this.#keyId = createHash("sha256").update(this.#key).digest("hex").slice(0, KEY_ID_CHARACTERS);
  }

  seal(secret: string, owner: string, randomBytes: RandomBytes): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner));
    const data = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return [VERSION, this.#keyId, data.toString("base64")].join(".");
  }

  /** Throws a `SecretError` if the text was sealed with another key, for another owner, or was changed. */
  open(sealed: string, owner: string): string {
    const { noun, remedy } = this.#kind;
    const [version, keyId, encoded = ""] = sealed.split(".");
    if (version !== VERSION || keyId !== this.#keyId) {
      throw new SecretError(
        `the ${noun} of ${owner} was encrypted with another key: restore webhooks.encryption_key, or ${remedy}`,
      );
    }
    const data = Buffer.from(encoded, "base64");
    const tagAt = data.length - TAG_BYTES;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(owner))
        .setAuthTag(data.subarray(tagAt));
      return decipher.update(data.subarray(NONCE_BYTES, tagAt), undefined, "utf8") + decipher.final("utf8");
    } catch (cause) {
      throw new SecretError(`the stored ${noun} of ${owner} is damaged`, { cause });
    }
  }
}

/** A box with the key that is derived from a text with at least its entropy. */
export function secretBox(text: string, kind: SecretKind): SecretBox {
  return new SecretBox(text, kind);
}
