/**
 * The texts of pages that are pictures, by user and by the bytes of their document, at whichever address that is:
 *
 *   another request reads the page? ──yes──▶ its text; after its failure from the beginning
 *     └──no──▶ stored? ──yes──▶ that text
 *                └──no──▶ read ──▶ stored, unless the request keeps nothing
 *
 * Two users share nothing: one must not learn from the time or the price of a page what another one reads.
 */
import { createHash } from "node:crypto";
import { type Clock, GatewayError, untilAborted } from "../../../../core/index.ts";
import type { Logger } from "../../../../telemetry/index.ts";
import { KeptTexts } from "../../../cache/index.ts";
import type { StoredBytesStore } from "../../../stored-bytes/index.ts";
import { within } from "../../../within.ts";
import type { ScrapeTime } from "../scrape-time.ts";
import { INSTRUCTIONS } from "./instructions.ts";

/** How long a text is kept, like a page in the cache. */
const TTL_MS = 2 * 24 * 3_600_000;

export interface ScanTextsOptions {
  store: StoredBytesStore;
  clock: Clock;
  logger: Pick<Logger, "warn">;
  /** The model's name: another one may read another text. Undefined if there is none. */
  model: string | undefined;
}

/** The document whose pages one request wants to have read. */
export interface ScanRequest {
  document: string;
  /** Whether the texts may be kept. */
  keeps: boolean;
  time: ScrapeTime;
}

/** Reads pages that nobody has read. A page that is left out has failed. */
type ReadPages = (numbers: readonly number[]) => Promise<ReadonlyMap<number, string>>;

interface ReadText {
  text: string;
  isKept: boolean;
}

export class ScanTexts {
  readonly #texts: KeptTexts;
  readonly #options: ScanTextsOptions;
  /** The pages that requests of this process are reading. A failure resolves with undefined. */
  readonly #running = new Map<string, Promise<ReadText | undefined>>();

  constructor(options: ScanTextsOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.#texts = new KeptTexts({ store, kind: "scan", clock, ttlMs: TTL_MS });
  }

  /** The name of a document, by its bytes; computed beside the thread that answers calls. */
  async documentOf(bytes: Uint8Array): Promise<string> {
    const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
    return createHash("sha256")
      .update(`${this.#options.model} ${INSTRUCTIONS} `)
      .update(new Uint8Array(digest))
      .digest("hex");
  }

  /** The texts by page, those left out that failed or were not there in time. Rejects as `read` does, or with the signal's reason. */
  async read(numbers: readonly number[], request: ScanRequest, read: ReadPages): Promise<Map<number, string>> {
    const { time } = request;
    const texts = new Map<number, string>();
    let open = numbers;
    while (open.length > 0 && time.left() > 1) {
      const others = open.flatMap((number) => {
        const running = this.#running.get(keyOf(request, number));
        return running === undefined ? [] : [{ number, running }];
      });
      const taken = new Set(others.map(({ number }) => number));
      const own = open.filter((number) => !taken.has(number));
      if (own.length > 0) for (const [number, text] of await this.#readOwn(own, request, read)) texts.set(number, text);
      // Nothing of its own runs while it waits: two requests cannot wait for each other.
      const failed: number[] = [];
      for (const { number, running } of others) {
        const found = await inTime(running, time);
        if (found === undefined) {
          failed.push(number);
          continue;
        }
        texts.set(number, found.text);
        if (request.keeps && !found.isKept) await this.#keep(number, request, found.text);
      }
      open = failed;
    }
    return texts;
  }

  /** The text of a page that was stored meanwhile. */
  async stored(number: number, request: ScanRequest): Promise<string | undefined> {
    try {
      const found = await this.#texts.find(request.time.owner, textKey(request, number), TTL_MS);
      return found?.text;
    } catch (reason) {
      this.#options.logger.warn({ err: reason }, "the texts of scanned pages could not be read");
      return undefined;
    }
  }

  async #readOwn(numbers: readonly number[], request: ScanRequest, read: ReadPages): Promise<Map<number, string>> {
    const texts = new Map<number, string>();
    const claims = numbers.map((number) => {
      const { promise, resolve } = Promise.withResolvers<ReadText | undefined>();
      this.#running.set(keyOf(request, number), promise);
      return { number, resolve };
    });
    try {
      for (const number of numbers) {
        const text = await this.stored(number, request);
        if (text !== undefined) texts.set(number, text);
      }
      const unread = numbers.filter((number) => !texts.has(number));
      if (unread.length === 0) return texts;
      for (const [number, text] of await read(unread)) {
        texts.set(number, text);
        if (request.keeps) await this.#keep(number, request, text);
      }
      return texts;
    } finally {
      for (const { number, resolve } of claims) {
        this.#running.delete(keyOf(request, number));
        const text = texts.get(number);
        resolve(text === undefined ? undefined : { text, isKept: request.keeps });
      }
    }
  }

  async #keep(number: number, request: ScanRequest, text: string): Promise<void> {
    try {
      await this.#texts.put(request.time.owner, textKey(request, number), text);
    } catch (reason) {
      this.#options.logger.warn({ err: reason }, "the text of a scanned page could not be kept");
    }
  }
}

function textKey({ document }: ScanRequest, number: number): string {
  return `${document} ${number}`;
}

function keyOf(request: ScanRequest, number: number): string {
  const { owner } = request.time;
  return `${owner.length} ${owner} ${textKey(request, number)}`;
}

const late = new GatewayError("scrape_timeout", "Another request has not read the page in time.");

/** Undefined if it is not there in time. Rejects with the signal's reason. */
async function inTime<Result>(work: Promise<Result>, { signal, left }: ScrapeTime): Promise<Result | undefined> {
  try {
    return await within({ signal, ms: left(), late }, (either) => untilAborted(either, work));
  } catch (reason) {
    if (reason === late) return undefined;
    throw reason;
  }
}
