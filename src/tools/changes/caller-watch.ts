/**
 * The changes of one server as one caller sees them, by whatever account the caller has there: it may be deleted, replaced or connected
 * while the caller listens.
 */
import type { ServerAccess } from "../server-access.ts";
import type { ChangeListener, ServerWatch } from "./server-watch.ts";

/** Between two looks at the account. */
const LOOK_MS = 60_000;

interface CallerWatchOptions {
  /** Undefined without credentials. */
  access: () => ServerAccess | undefined | Promise<ServerAccess | undefined>;
  /** The changes by an access. */
  watchBy: (access: ServerAccess) => Pick<ServerWatch, "add">;
  listener: ChangeListener;
  wait: (milliseconds: number) => Promise<void>;
}

const lists = ["tools", "prompts", "resources"] as const;

/** Resolves with a function that ends the listening, once it has begun. Rejects as `access` does at first. */
export async function watchAsCaller(options: CallerWatchOptions): Promise<() => void> {
  const watch = new CallerWatch(options);
  await watch.look();
  watch.follow();
  return () => watch.end();
}

class CallerWatch {
  readonly #options: CallerWatchOptions;
  /** Of the access in use; undefined without one. */
  #key: string | undefined;
  #stop: () => void = () => undefined;
  #hasBegun = false;
  #isOver = false;

  constructor(options: CallerWatchOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    const { access, watchBy, listener } = this.#options;
    const found = await access();
    const isSame = this.#hasBegun && found?.key === this.#key;
    if (isSame || this.#isOver) return;
    this.#stop();
    this.#key = found?.key;
    this.#stop = found === undefined ? () => undefined : watchBy(found).add(listener);
    // Another account sees other things.
    if (this.#hasBegun) for (const list of lists) listener.onChange({ list });
    this.#hasBegun = true;
  }

  /** The operator's own credentials change with the configuration alone. */
  follow(): void {
    if (this.#key !== "") void this.#lookAgain();
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  async #lookAgain(): Promise<void> {
    for (;;) {
      await this.#options.wait(LOOK_MS);
      if (this.#isOver) return;
      // A storage that cannot be read now is asked at the next look.
      await this.look().catch(() => undefined);
    }
  }
}
