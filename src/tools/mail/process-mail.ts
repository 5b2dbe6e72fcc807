import { type Clock, type JsonObject, parseObject, type RandomBytes, randomId, stringOf } from "../../core/index.ts";
import type { Sealing } from "../../mcp/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { LetterStore } from "./store.ts";

const ID_CHARACTERS = 22;

/** Letters that nobody has taken: their process has ended. */
const LETTER_MS_MAX = 10 * 60_000;

interface ProcessMailOptions {
  /** Undefined if there is no other process. */
  store: LetterStore | undefined;
  /** Calls back whenever a letter was written. */
  watch: (onLetter: () => void) => () => void;
  sealing: Sealing;
  clock: Clock;
  randomBytes: RandomBytes;
  logger: Logger;
}

/** The subjects of letters, each with its only reader. */
export type Subject = "answer" | "resume" | "leave" | "alive" | "step";

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

  constructor(options: ProcessMailOptions) {
    this.#options = options;
    this.process = randomId(options.randomBytes, ID_CHARACTERS);
    this.#stop = options.store === undefined ? () => undefined : options.watch(() => this.#take());
  }

  /** Calls back with the letters about a subject. */
  on(subject: Subject, reader: (body: JsonObject) => void): void {
    this.#readers.set(subject, reader);
  }

  /** A letter that can't be written is lost, as one to a process that has ended. */
  async send(recipient: string, subject: Subject, body: JsonObject): Promise<void> {
    const { store, sealing, clock, randomBytes, logger } = this.#options;
    if (store === undefined) return;
    try {
      const now = clock();
      const sealed = sealing.seal(JSON.stringify({ subject, body }), sealedFor(recipient));
      await store.deleteBefore(now - LETTER_MS_MAX);
      await store.add({ id: randomId(randomBytes, ID_CHARACTERS), recipient, sealed, writtenAt: now });
    } catch (err) {
      logger.warn({ subject, err }, "a letter to another process was not written");
    }
  }

  stop(): void {
    this.#stop();
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
        for (const { sealed } of (await store?.take(this.process)) ?? []) this.#read(sealed);
      } catch (err) {
        logger.warn({ err }, "the letters of other processes cannot be read");
      }
    }
    this.#isReading = false;
  }

  #read(sealed: string): void {
    const letter = parseObject(this.#options.sealing.open(sealed, sealedFor(this.process)));
    const body = letter?.["body"] as JsonObject | undefined;
    if (body !== undefined) this.#readers.get(stringOf(letter?.["subject"]))?.(body);
  }
}

function sealedFor(recipient: string): readonly string[] {
  return ["mail", recipient];
}
