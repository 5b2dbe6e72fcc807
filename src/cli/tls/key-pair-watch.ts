/**
 * Notices that the files of a key pair have changed, by reading them again: a watcher of the file system would miss what certbot
 * and Kubernetes do (links that are turned to another folder) and network drives. The two files change one after the other, so
 * that a pair that does not fit counts as a mistake when it is still there at the next look.
 */
import type { Logger } from "../../telemetry/index.ts";
import { checkKeyPair, expiryOf, type KeyPair, type KeyPairInUse, readKeyPair } from "./key-pair.ts";

/** How often the files are read. They are small, and are replaced weeks before they expire. */
const LOOK_MS = 2_000;

interface KeyPairWatchOptions extends KeyPairInUse {
  logger: Pick<Logger, "info" | "error">;
  /** Called with another pair that fits. If it throws, the old one stays in use, and this is called again. */
  onChange: (pair: KeyPair) => void;
}

export class KeyPairWatch {
  readonly #options: KeyPairWatchOptions;
  #current: KeyPair;
  /** What was wrong at the last look, and whether the log has it. */
  #wrong: { reason: string; isLogged: boolean } | undefined;
  #isLooking = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isStopped = false;

  constructor(options: KeyPairWatchOptions) {
    this.#options = options;
    this.#current = options.pair;
  }

  /** Looks from now on; does not keep the process alive. */
  start(): this {
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
    return this;
  }

  /** No change is taken any more. */
  stop(): void {
    clearInterval(this.#timer);
    this.#isStopped = true;
  }

  /** Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#takeChange();
      this.#wrong = undefined;
    } catch (thrown) {
      this.#note(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      this.#isLooking = false;
    }
  }

  async #takeChange(): Promise<void> {
    const { files, logger, onChange } = this.#options;
    const { cert, key } = await readKeyPair(files);
    if (this.#isStopped || (cert === this.#current.cert && key === this.#current.key)) return;
    const pair = { cert, key };
    checkKeyPair(pair, files);
    onChange(pair);
    this.#current = pair;
    logger.info({ cert: files.cert, expires: expiryOf(pair).toISOString() }, "certificate replaced");
  }

  #note(reason: string): void {
    const isOld = this.#wrong?.reason === reason;
    if (isOld && this.#wrong?.isLogged === false)
      this.#options.logger.error({ reason }, "the new certificate cannot be used; the old one stays");
    this.#wrong = { reason, isLogged: isOld };
  }
}
