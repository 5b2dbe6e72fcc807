import { GatewayError, limits } from "../core/index.ts";

const RETRY_AFTER_SECONDS = 5;

/** Counts each user's uploads in this process: until their form is complete, only the disk bounds them. */
export class UploadsUnderWay {
  readonly #counts = new Map<string, number>();

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Runs an upload. Rejects with 429 if the user has too many under way. */
  async run<T>(user: string, upload: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(user) ?? 0;
    if (count >= limits.uploadsPerUserMax) {
      const message = `You have ${limits.uploadsPerUserMax} uploads under way; wait for one of them to end.`;
      throw new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.#counts.set(user, count + 1);
    try {
      return await upload();
    } finally {
      const left = (this.#counts.get(user) ?? 1) - 1;
      if (left === 0) this.#counts.delete(user);
      else this.#counts.set(user, left);
    }
  }
}
