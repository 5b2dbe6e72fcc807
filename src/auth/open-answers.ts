/** Ends open answers whose token may no longer be used. */
import { type Clock, type Every, everyUnref, GatewayError } from "../core/index.ts";
import type { Principal } from "./principal.ts";
import { refusalOf, type TokenStore } from "./store.ts";

/** The interval at which the tokens of open answers are read again. */
const CHECK_MS = 1_000;

/** An answer that goes on for as long as its token may be used: a stream, a WebSocket. A `CallAbort` is one. */
export interface OpenAnswer {
  /** Must not throw. Called once, with a `GatewayError` (401). */
  abort(reason: GatewayError): void;
}

export interface OpenAnswersOptions {
  store: Pick<TokenStore, "findAll">;
  clock: Clock;
  every?: Every;
}

/**
 * The open answers of a process. Once a second, one query reads the distinct tokens of all of them, so that an answer
 * costs nothing while it streams, and a revocation by another process is noticed without any message from it.
 */
export class OpenAnswers {
  readonly #tokenIds = new Map<OpenAnswer, string>();
  /** Of callers with a browser's session: the token that it was begun with. */
  readonly #sourceIds = new Map<OpenAnswer, string>();
  /** Those of callers whose signed token expires, which their stored one does not. */
  readonly #ends = new Map<OpenAnswer, number>();
  readonly #store: OpenAnswersOptions["store"];
  readonly #clock: Clock;
  readonly #stopTimer: () => void;
  #isChecking = false;

  constructor({ store, clock, every = everyUnref }: OpenAnswersOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#stopTimer = every(CHECK_MS, () => {
      this.#endSigned();
      void this.#check();
    });
  }

  add(
    answer: OpenAnswer,
    { tokenId, signedUntil, session }: Pick<Principal, "tokenId" | "signedUntil" | "session">,
  ): void {
    this.#tokenIds.set(answer, tokenId);
    if (session !== undefined) this.#sourceIds.set(answer, session.sourceId);
    if (signedUntil !== undefined) this.#ends.set(answer, signedUntil);
  }

  /** Does nothing if it has been removed already. */
  remove(answer: OpenAnswer): void {
    this.#tokenIds.delete(answer);
    this.#sourceIds.delete(answer);
    this.#ends.delete(answer);
  }

  stop(): void {
    this.#stopTimer();
  }

  #endSigned(): void {
    const now = this.#clock();
    for (const [answer, until] of this.#ends) {
      if (now < until) continue;
      this.remove(answer);
      answer.abort(new GatewayError("token_expired", "The token has expired."));
    }
  }

  /** While the storage is unavailable, open answers go on. Never rejects. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#tokenIds.size === 0) return;
    this.#isChecking = true;
    const asked = new Set([...this.#tokenIds.values(), ...this.#sourceIds.values()]);
    try {
      const found = new Map((await this.#store.findAll([...asked])).map((record) => [record.id, record]));
      const now = this.#clock();
      const refusalOfId = (id: string | undefined): GatewayError | undefined => {
        // One that was added meanwhile is checked the next time.
        if (id === undefined || !asked.has(id)) return undefined;
        const record = found.get(id);
        return record === undefined ? deleted() : refusalOf(record, now);
      };
      for (const [answer, tokenId] of this.#tokenIds) {
        const refusal = refusalOfId(tokenId) ?? refusalOfId(this.#sourceIds.get(answer));
        if (refusal === undefined) continue;
        this.remove(answer);
        answer.abort(refusal);
      }
    } catch {
      // The next check may reach the storage.
    } finally {
      this.#isChecking = false;
    }
  }
}

function deleted(): GatewayError {
  return new GatewayError("token_revoked", "The token no longer exists.");
}
