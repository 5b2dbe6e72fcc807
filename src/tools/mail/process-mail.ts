import {
  type Clock,
  type JsonObject,
  objectOf,
  parseObject,
  type RandomBytes,
  randomId,
  stringOf,
} from "../../core/index.ts";
import type { Sealing } from "../../mcp/index.ts";
import type { MemoryBudget, Ticker } from "../../streaming/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { LetterStore } from "./store.ts";

const ID_CHARACTERS = 22;

/** Letters that nobody has taken: their process has ended. One that runs takes them at once. */
const LETTER_MS_MAX = 60_000;

/** Letters that are read together: one may contain the longest result. */
const TAKEN_MAX = 16;

/** Bytes of memory for a character of a letter: its text, and that encrypted. */
const SEALED_FACTOR = 3;

interface ProcessMailOptions {
  /** Undefined if there is no other process. */
  store: LetterStore | undefined;
  /** Calls back whenever a letter was written. */
  watch: (onLetter: () => void) => () => void;
  sealing: Sealing;
  /** Counts letters that are being written. */
  memory: Pick<MemoryBudget, "share">;
  ticker: Ticker;
  clock: Clock;
  randomBytes: RandomBytes;
  logger: Logger;
}

/** The subjects of letters, each with its only reader. */
export type Subject = "answer" | "resume" | "leave" | "alive" | "reports" | "step";

/**
 * Letters between the processes of one storage, about requests that one of them has and another one is asked for. They are encrypted:
 * they contain the answers of users, and results.
 */
export class ProcessMail {
  /** Identifies this process. */
  readonly process: string;
  readonly #options: ProcessMailOptions;
  readonly #readers = new Map<string, (body: JsonObject) => void>();
  readonly #stop: () => void;
  #isReading = false;
  #isAnnounced = false;
  #lastAt = 0;
  #stopSweep: (() => void) | undefined;

  constructor(options: ProcessMailOptions) {
    this.#options = options;
    this.process = randomId(options.randomBytes, ID_CHARACTERS);
    this.#stop = options.store === undefined ? () => undefined : options.watch(() => this.#take());
  }

  /** Whether there may be other processes. */
  get hasOthers(): boolean {
    return this.#options.store !== undefined;
  }

  /** Calls back with the letters about a subject, those of one sender in the order in which they were written. */
  on(subject: Subject, reader: (body: JsonObject) => void): void {
    this.#readers.set(subject, reader);
  }

  /** Resolves with false for a letter that can't be written. It is lost, as one to a process that has ended. Never rejects. */
  async send(recipient: string, subject: Subject, body: JsonObject): Promise<boolean> {
    const { store, sealing, memory, clock, randomBytes, logger } = this.#options;
    if (store === undefined) return false;
    const share = memory.share();
    try {
      const text = JSON.stringify({ subject, body });
      share.add(text.length * SEALED_FACTOR);
      const sealed = sealing.seal(text, sealedFor(recipient));
      // Two of one moment would have no order.
      this.#lastAt = Math.max(this.#lastAt + 1, clock());
      await store.add({ id: randomId(randomBytes, ID_CHARACTERS), recipient, sealed, writtenAt: this.#lastAt });
      this.#sweepLater();
      return true;
    } catch (err) {
      logger.warn({ subject, err }, "a letter to another process was not written");
      return false;
    } finally {
      share.free();
    }
  }

  /** Resolves once the letters that nobody will read are deleted, as far as the storage can be asked. */
  async stop(): Promise<void> {
    this.#stop();
    this.#stopSweep?.();
    await this.#options.store?.deleteTo(this.process).catch(() => undefined);
  }

  /** Those whose process has ended are of no use to anybody, and contain what users have written. */
  #sweepLater(): void {
    const { store, ticker, clock, logger } = this.#options;
    this.#stopSweep ??= ticker.after(LETTER_MS_MAX, () => {
      this.#stopSweep = undefined;
      store?.deleteBefore(clock() - LETTER_MS_MAX).catch((err: unknown) => {
        logger.warn({ err }, "old letters to other processes were not deleted");
      });
    });
  }

  /** Those that come while others are read are read afterwards. */
  #take(): void {
    this.#isAnnounced = true;
    if (!this.#isReading) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    const { store, logger } = this.#options;
    this.#isReading = true;
    while (this.#isAnnounced) {
      this.#isAnnounced = false;
      try {
        const letters = (await store?.take(this.process, TAKEN_MAX)) ?? [];
        this.#isAnnounced ||= letters.length === TAKEN_MAX;
        for (const { sealed } of letters.toSorted((one, other) => one.writtenAt - other.writtenAt)) this.#read(sealed);
      } catch (err) {
        logger.warn({ err }, "the letters of other processes cannot be read");
      }
    }
    this.#isReading = false;
  }

  /** One that can't be read, such as one under another key, keeps no other from its reader. */
  #read(sealed: string): void {
    const { sealing, logger } = this.#options;
    try {
      const letter = parseObject(sealing.open(sealed, sealedFor(this.process)));
      const body = objectOf(letter?.["body"]);
      if (body !== undefined) this.#readers.get(stringOf(letter?.["subject"]))?.(body);
    } catch (err) {
      logger.warn({ err }, "a letter of another process cannot be read");
    }
  }
}

function sealedFor(recipient: string): readonly string[] {
  return ["mail", recipient];
}
