/** A map that forgets the entries which were used least recently, beyond a number of them. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  find(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.use(key, () => value);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** The value of a key, which is made if there is none. */
  use(key: string, make: () => Value): Value {
    const known = this.#entries.get(key);
    const value = known ?? make();
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#entriesMax) break;
      this.#entries.delete(oldest);
    }
    return value;
  }
}
