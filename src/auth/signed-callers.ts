/** Callers who present a token that somebody else has signed, in place of one of ours. */
import type { Clock, Role } from "../core/index.ts";
import type { Principal } from "./principal.ts";

/** Whose a verified token is. */
export interface SignedCaller {
  /** The stored token that stands for the caller: its account pays, and its limits apply. Nobody has its secret. */
  tokenId: string;
  role: Role;
  /** The signed token is not accepted from then on, in milliseconds since the epoch. */
  expiresAt: number;
}

/** A request with a signed token, as the audit log names it. */
export interface SignedRequest {
  request?: Request | undefined;
  requestId?: string | undefined;
}

/** Rejects with a `GatewayError`: 401 for a token that is not accepted, 503 while its issuer's keys can't be had. */
export type VerifySigned = (text: string, from: SignedRequest) => Promise<SignedCaller>;

/** The longest text that is taken for a signed token. */
const CHARACTERS_MAX = 16_384;

const SIGNED = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

/** Whether it has the form of a JSON Web Token: the JSON of its header begins with a brace and a quote. */
export function isSigned(text: string): boolean {
  return text.startsWith("eyJ") && text.length <= CHARACTERS_MAX && SIGNED.test(text);
}

/** How long a token is not verified again: its issuer may have withdrawn a key, and the configuration of roles may have changed. */
const VERIFIED_MS = 60_000;

const ENTRIES_MAX = 10_000;

/** A verified token, with the principal of the stored one that stands for it. */
export class VerifiedCaller {
  readonly tokenId: string;
  readonly expiresAt: number;
  readonly verifiedAt: number;
  readonly #role: Role;
  #of: Principal | undefined;
  #principal: Principal | undefined;

  constructor({ tokenId, role, expiresAt }: SignedCaller, verifiedAt: number) {
    this.tokenId = tokenId;
    this.expiresAt = expiresAt;
    this.verifiedAt = verifiedAt;
    this.#role = role;
  }

  /** The same object for the same one. The role is that of the signed token alone. */
  principalOf(stored: Principal): Principal {
    if (this.#principal === undefined || this.#of !== stored) {
      this.#of = stored;
      this.#principal = { ...stored, role: this.#role, signedUntil: this.expiresAt };
    }
    return this.#principal;
  }
}

/** The verified tokens of a process by their hash. Only those that were accepted are kept, the latest of them. */
export class VerifiedCallers {
  readonly #verify: VerifySigned;
  readonly #clock: Clock;
  readonly #kept = new Map<string, VerifiedCaller>();
  readonly #verifying = new Map<string, Promise<VerifiedCaller>>();

  constructor(verify: VerifySigned, clock: Clock) {
    this.#verify = verify;
    this.#clock = clock;
  }

  /** Requests with the same token at the same time verify it once. */
  find(text: string, from: SignedRequest): VerifiedCaller | Promise<VerifiedCaller> {
    const hash = Bun.SHA256.hash(text, "base64");
    const kept = this.#kept.get(hash);
    if (kept !== undefined) {
      const now = this.#clock();
      const age = now - kept.verifiedAt;
      if (age >= 0 && age < VERIFIED_MS && now < kept.expiresAt) return kept;
      this.#kept.delete(hash);
    }
    const verifying = this.#verifying.get(hash) ?? this.#begin(hash, text, from);
    this.#verifying.set(hash, verifying);
    return verifying;
  }

  /** The next request verifies again: another stored token may stand for the caller by now. */
  forget(text: string): void {
    this.#kept.delete(Bun.SHA256.hash(text, "base64"));
  }

  async #begin(hash: string, text: string, from: SignedRequest): Promise<VerifiedCaller> {
    try {
      const verified = new VerifiedCaller(await this.#verify(text, from), this.#clock());
      if (this.#kept.size >= ENTRIES_MAX) this.#kept.delete(this.#kept.keys().next().value ?? "");
      this.#kept.set(hash, verified);
      return verified;
    } finally {
      this.#verifying.delete(hash);
    }
  }
}
