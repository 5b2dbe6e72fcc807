/**
 * Notices that files have other contents than those in force, by reading them: a watcher of the file system would miss the
 * links that Kubernetes turns to another folder, and network drives.
 */
import { readFile } from "node:fs/promises";

/** How often the files are read. They are few and small. */
const LOOK_MS = 2_000;

interface SourceWatchOptions {
  /** The contents in force, by path. */
  inForce: () => ReadonlyMap<string, string>;
  /** Called once for contents that differ and are the same at two looks. */
  onChange: () => Promise<unknown>;
}

export class SourceWatch {
  readonly #options: SourceWatchOptions;
  /** The differences at the last look: a file may be only half written. */
  #seen = NOTHING;
  /** The differences that were taken already, or refused. */
  #taken = NOTHING;
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
    if (changes === NOTHING) this.#taken = NOTHING;
    else if (isSettled && changes !== this.#taken) {
      this.#taken = changes;
      await this.#options.onChange();
    }
    this.#isLooking = false;
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
