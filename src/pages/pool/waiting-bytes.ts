/** How much waits, by owner. */
export class WaitingBytes {
  readonly #owned = new Map<string, number>();
  #count = 0;
  #total = 0;

  /** Documents that wait. */
  get count(): number {
    return this.#count;
  }

  get total(): number {
    return this.#total;
  }

  of(owner: string): number {
    return this.#owned.get(owner) ?? 0;
  }

  /** Returns the function that takes them off again. */
  add(owner: string, bytes: number): () => void {
    this.#change(owner, 1, bytes);
    return () => this.#change(owner, -1, -bytes);
  }

  #change(owner: string, documents: 1 | -1, bytes: number): void {
    this.#count += documents;
    this.#total += bytes;
    const owned = this.of(owner) + bytes;
    if (owned > 0) this.#owned.set(owner, owned);
    else this.#owned.delete(owner);
  }
}
