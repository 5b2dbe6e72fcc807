import { GatewayError } from "../core/index.ts";

/** Counts the open sessions of each token in this process. */
export class SessionLimit {
  /** The most of one token. Those that are open beyond a smaller one stay. */
  max: number;
  readonly #open = new Map<string, number>();

  constructor(max: number) {
    this.max = max;
  }

  /** Counts a session; the returned function, which may be called repeatedly, ends it. Throws 429 if there are too many. */
  enter(tokenId: string): () => void {
    const open = this.#open.get(tokenId) ?? 0;
    if (open >= this.max) {
      throw new GatewayError("rate_limit_exceeded", `The token has ${this.max} open sessions, which is the most.`);
    }
    this.#open.set(tokenId, open + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#leave(tokenId);
      isOpen = false;
    };
  }

  #leave(tokenId: string): void {
    const left = (this.#open.get(tokenId) ?? 1) - 1;
    if (left > 0) this.#open.set(tokenId, left);
    else this.#open.delete(tokenId);
  }
}
