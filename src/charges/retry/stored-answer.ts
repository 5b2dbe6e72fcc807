import { errorBody, GatewayError, limits, type Surface } from "../../core/index.ts";
import type { StoredAnswer } from "../../ledger/index.ts";

/** A replay has the headers of the first answer, except for those about the current call. */
const REPLAYED = { "idempotent-replayed": "true", "x-tollgate-credits": "0" };

/** A stored answer, as it is sent again. */
export interface ReplayedAnswer {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer>;
}

/** Replays the stored answer. */
export function replay({ status, headers, body }: StoredAnswer, firstId: string): ReplayedAnswer {
  const first = Object.fromEntries(headers);
  const cost = first["x-tollgate-credits"];
  const of = {
    "x-tollgate-first-request-id": firstId,
    ...(cost !== undefined && { "x-tollgate-first-credits": cost }),
  };
  const all = { ...first, ...REPLAYED, ...of };
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
