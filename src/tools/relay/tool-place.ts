/** The place of one call among those under way, which it gives to others while its client is asked. */
import type { CallSignal, Places } from "../../core/index.ts";

interface ToolPlaceOptions {
  places: Pick<Places, "enter">;
  owner: string;
  /** The name of the server. */
  upstream: string;
  signal: CallSignal;
}

/**
 * A client may take long to answer: others need the place meanwhile. The answer reaches the server once the call has a place again, else
 * a server that asks would have no bound. While several questions are open, the call has none.
 */
export class ToolPlace {
  readonly #options: ToolPlaceOptions;
  #leave: (() => void) | undefined;
  #entering: Promise<void> | undefined;
  #questions = 0;
  #isOver = false;

  /** Resolves once the call has its place. Rejects as `Places.enter` does. */
  static async enter(options: ToolPlaceOptions): Promise<ToolPlace> {
    const place = new ToolPlace(options);
    await place.#enter();
    return place;
  }

  private constructor(options: ToolPlaceOptions) {
    this.#options = options;
  }

  /** Resolves or rejects as `ask` does, or rejects if there is no place for the call to go on. */
  async without<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    this.#questions += 1;
    this.#giveBack();
    try {
      return await ask();
    } finally {
      this.#questions -= 1;
      if (this.#questions === 0 && !this.#isOver) await (this.#entering ??= this.#enter());
    }
  }

  /** The call has ended. */
  end(): void {
    this.#isOver = true;
    this.#giveBack();
  }

  async #enter(): Promise<void> {
    try {
      this.#leave = await this.#options.places.enter(this.#options);
    } finally {
      this.#entering = undefined;
    }
    // It may have ended, or asked again, meanwhile.
    if (this.#isOver || this.#questions > 0) this.#giveBack();
  }

  #giveBack(): void {
    this.#leave?.();
    this.#leave = undefined;
  }
}
