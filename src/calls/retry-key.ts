import { createHash } from "node:crypto";
import { RETRY_KEY_HEADER } from "../charges/index.ts";
import { errorBody, GatewayError, limits, type Surface } from "../core/index.ts";
import type { StoredAnswer } from "../ledger/index.ts";
import type { CallAnswer } from "./incoming-call.ts";
import type { CallBody } from "./receive-body.ts";

/** A replay has the headers of the first answer, except for those about the current call. */
const REPLAYED = { "idempotent-replayed": "true", "x-tollgate-credits": "0" };

/**
 * The caller's `Idempotency-Key`, if any. Throws 422 for a key that is empty, too long, or contains other than
 * printable ASCII characters.
 */
export function readRetryKey(headers: Headers): string | undefined {
  const key = headers.get(RETRY_KEY_HEADER);
  if (key === null) return undefined;
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key) || key.length > limits.retryKeyCharactersMax) {
    throw new GatewayError(
      "validation_failed",
      `The Idempotency-Key must be 1 to ${limits.retryKeyCharactersMax} printable ASCII characters.`,
      { param: RETRY_KEY_HEADER },
    );
  }
  return key;
}

/** A hash of the request of a key: the operation and the body, byte by byte, or part by part for a form. */
export async function fingerprintOf(operation: string, received: CallBody<unknown>): Promise<string> {
  const prefix = `${operation}\n`;
  if (received.kind === "form") return received.form.fingerprint(prefix);
  return createHash("sha256").update(prefix).update(received.bytes).digest("base64url");
}

/** Replays the stored answer. */
export function replay({ status, headers, body }: StoredAnswer, firstId: string): CallAnswer {
  const all = { ...Object.fromEntries(headers), ...REPLAYED, "x-tollgate-first-request-id": firstId };
  // A copy, because the storage's bytes may not outlive the call.
  return { status, headers: all, body: Uint8Array.from(body) };
}

/** Collects the body of an answer to be stored; beyond the bound, only its size. */
export class StoredBody {
  #pieces: Uint8Array[] = [];
  #size = 0;

  add(piece: Uint8Array): this {
    this.#size += piece.byteLength;
    if (this.tooLarge) this.#pieces = [];
    else this.#pieces.push(piece);
    return this;
  }

  get tooLarge(): boolean {
    return this.#size > limits.retryAnswerBytesMax;
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }
}

/** An answer in its client's format. */
export interface SentAnswer {
  headers: Readonly<Record<string, string>>;
  body: StoredBody;
}

/**
 * The stored form of an answer. One that is too large cannot be replayed, but the fact that it was sent and charged can
 * be.
 */
export function storedAnswerOf(
  status: number,
  { headers, body }: SentAnswer,
  surface: Surface,
  requestId: string,
): StoredAnswer {
  if (!body.tooLarge) {
    // The remaining quota of that minute is of no use later.
    const lasting = Object.entries(headers).filter(([name]) => !name.startsWith("x-ratelimit-"));
    return { status, headers: lasting, body: body.bytes() };
  }
  const error = new GatewayError(
    "idempotency_answer_too_large",
    "The call with this Idempotency-Key has succeeded and was charged. Its answer is too large to be given again.",
  );
  return {
    status: error.status,
    headers: [["content-type", "application/json"]],
    body: Buffer.from(JSON.stringify(errorBody(surface, error, requestId))),
  };
}
