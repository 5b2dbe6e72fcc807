/** The calls of routes that each target is answering in this process. */
export class BusyTargets {
  readonly #calls = new Map<string, number>();

  /** How many calls a model is answering, by its id. */
  of(model: string): number {
    return this.#calls.get(model) ?? 0;
  }

  /** A call begins; it ends when the result is called. */
  begin(model: string): () => void {
    this.#calls.set(model, this.of(model) + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = this.of(model) - 1;
      if (left > 0) this.#calls.set(model, left);
      // Callers can name any model as a target.
      else this.#calls.delete(model);
    };
  }
}
