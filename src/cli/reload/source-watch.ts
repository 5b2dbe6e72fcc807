/**
 * Notices that files have other contents than those in force, by reading them: a watcher of the file system would miss the
 * links that Kubernetes turns to another folder, and network drives.
 */
import { readFile } from "node:fs/promises";

/** How often the files are read. They are few and small. */
const LOOK_MS = 2_000;

/** How soon a reload that failed is tried again: its reason may have been a storage or a catalog that did not answer. Doubled each time. */
const AGAIN_MS_MIN = 30_000;
const AGAIN_MS_MAX = 10 * 60_000;

interface SourceWatchOptions {
  /** The contents in force, by path. */
  inForce: () => ReadonlyMap<string, string>;
  /**
   * Called for contents that differ and are the same at two looks. Resolves with whether they are in force; if not, it is called
   * again after a while.
   */
  onChange: () => Promise<boolean>;
  /** Monotonic. */
  now?: () => number;
}

export class SourceWatch {
  readonly #options: SourceWatchOptions;
  /** The differences at the last look: a file may be only half written. */
  #seen = NOTHING;
  /** The differences that were tried last, and when they are tried again. */
  #tried = NOTHING;
  #againAt = Infinity;
  #againMs = AGAIN_MS_MIN;
  #isLooking = false;

  constructor(options: SourceWatchOptions) {
    this.#options = options;
  }

  /** Looks from now on, as long as something else keeps the process alive. */
  start(): void {
    setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const changes = await this.#changes();
    const isSettled = changes === this.#seen;
    this.#seen = changes;
    if (changes === NOTHING) this.#tried = NOTHING;
    else if (isSettled) await this.#try(changes);
    this.#isLooking = false;
  }

  async #try(changes: string): Promise<void> {
    const { onChange, now = () => performance.now() } = this.#options;
    if (changes !== this.#tried) this.#againMs = AGAIN_MS_MIN;
    else if (now() < this.#againAt) return;
    this.#tried = changes;
    const isInForce = await onChange();
    this.#againAt = isInForce ? Infinity : now() + this.#againMs;
    this.#againMs = Math.min(2 * this.#againMs, AGAIN_MS_MAX);
  }

  async #changes(): Promise<string> {
    const changes: [file: string, content: string | null][] = [];
    for (const [file, known] of this.#options.inForce()) {
      const content = await readFile(file, "utf8").catch(() => null);
      if (content !== known) changes.push([file, content]);
    }
    return JSON.stringify(changes);
  }
}

const NOTHING = "[]";
