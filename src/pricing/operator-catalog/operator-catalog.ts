/**
 * The catalog that an operator lays over the built-in one, `pricing.catalog`. It is read at the start and again on an
 * interval:
 *
 *     read ── good ──▶ in force, and stored
 *       └──── bad ───▶ refused; the last good one stays in force, after a restart the stored one, else only the built-in one
 *
 * A process that reads it stores it, and the others take it from there: all have the prices that were read last.
 *
 * A price is taken at the start of a call, so a new catalog never changes a call that is under way.
 */
import { createHash } from "node:crypto";
import { type Clock, type Every, everyUnref, type Fetch } from "../../core/index.ts";
import { builtInCatalog, CatalogIndex, type CatalogLayers, layersOf } from "../catalog/index.ts";
import { isAddress, parseCatalog, readLocation, shownLocation } from "./read-catalog.ts";
import type { CatalogStore } from "./store.ts";

/** How soon a location is read again after it could not be read or its content was refused. */
const FAILED_READ_MS = 10 * 60_000;

/** How soon a catalog that another process has read is taken. */
const FOLLOW_MS = 5_000;

const HASH_CHARACTERS = 16;

/** Longer waits overflow a timer. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export interface OperatorCatalogOptions {
  /** A path, or an address (https, or http of this machine). */
  location: string;
  refreshMs: number;
  store: CatalogStore;
  fetch: Fetch;
  clock: Clock;
  every?: Every;
  log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

export class OperatorCatalog {
  readonly #options: OperatorCatalogOptions;
  /** The location as logs and prices name it. */
  readonly #shown: string;
  #index: CatalogIndex | undefined;
  #text: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Stops looking for catalogs of others. */
  #leave = (): void => undefined;
  /** That of the stored one that this process has last read or taken. */
  #readAt: number | undefined;
  #isClosed = false;
  /** This catalog over the built-in one. */
  readonly layers: CatalogLayers;

  private constructor(options: OperatorCatalogOptions) {
    this.#options = options;
    this.#shown = shownLocation(options.location);
    this.layers = layersOf(() => (this.#index === undefined ? [builtInCatalog()] : [this.#index, builtInCatalog()]));
  }

  /**
   * Resolves once a catalog is in force or none can be had. An address whose last content is stored is not waited for.
   * Never rejects.
   */
  static async open(options: OperatorCatalogOptions): Promise<OperatorCatalog> {
    const catalog = new OperatorCatalog(options);
    const readAt = await catalog.#restore();
    if (readAt === undefined || !isAddress(options.location)) await catalog.refresh();
    else catalog.#schedule(readAt + options.refreshMs - options.clock());
    catalog.#leave = (options.every ?? everyUnref)(FOLLOW_MS, () => void catalog.follow());
    return catalog;
  }

  /** Stops reading the location. */
  close(): void {
    this.#isClosed = true;
    this.#leave();
    clearTimeout(this.#timer);
  }

  /** Puts the stored catalog into force. Returns when it was read; undefined if there is none that can be used. */
  async #restore(): Promise<number | undefined> {
    const { location, store, log } = this.#options;
    try {
      const stored = await store.find(location);
      if (stored === undefined) return undefined;
      this.#use(stored.text);
      this.#readAt = stored.readAt;
      return stored.readAt;
    } catch (reason) {
      log.warn({ catalog: this.#shown, reason: messageOf(reason) }, "the stored price catalog was refused");
      return undefined;
    }
  }

  /** Whether a catalog is in force over the built-in one. */
  get isInForce(): boolean {
    return this.#index !== undefined;
  }

  /** A hash of the content in force; undefined if the built-in catalog is alone. */
  get hash(): string | undefined {
    if (this.#text === undefined) return undefined;
    return createHash("sha256").update(this.#text).digest("base64url").slice(0, HASH_CHARACTERS);
  }

  /** Takes the catalog that another process has read since. Never rejects: a storage that does not answer is asked again. */
  async follow(): Promise<void> {
    const { location, refreshMs, store, clock, log } = this.#options;
    try {
      const readAt = await store.readAt(location);
      if (readAt === undefined || readAt === this.#readAt) return;
      const stored = await store.find(location);
      if (stored === undefined || this.#isClosed) return;
      this.#readAt = stored.readAt;
      if (stored.text !== this.#text) {
        this.#use(stored.text);
        log.info({ catalog: this.#shown }, "a price catalog that another process has read is in force");
      }
      this.#schedule(stored.readAt + refreshMs - clock());
    } catch (reason) {
      log.warn({ catalog: this.#shown, reason: messageOf(reason) }, "the stored price catalog could not be taken");
    }
  }

  /** Reads the location now. Never rejects: a catalog that is refused leaves the previous one in force. */
  async refresh(): Promise<void> {
    const { location, refreshMs, fetch, clock, log } = this.#options;
    try {
      const text = await readLocation(location, fetch);
      const isNew = text !== this.#text;
      if (isNew) this.#use(text);
      if (isNew) log.info({ catalog: this.#shown }, "a price catalog is in force");
      await this.#keep(text, clock());
      this.#schedule(refreshMs);
    } catch (reason) {
      const inForce =
        this.#index === undefined ? "the built-in one alone is in force" : "the previous one stays in force";
      log.warn({ catalog: this.#shown, reason: messageOf(reason) }, `the price catalog was refused; ${inForce}`);
      this.#schedule(Math.min(refreshMs, FAILED_READ_MS));
    }
  }

  /** Throws a `CatalogError` and changes nothing if the text is no catalog. */
  #use(text: string): void {
    this.#index = new CatalogIndex(`catalog ${this.#shown}`, parseCatalog(text));
    this.#text = text;
  }

  /** A catalog that could not be stored is in force all the same. */
  async #keep(text: string, readAt: number): Promise<void> {
    const { location, store, log } = this.#options;
    try {
      this.#readAt = readAt;
      await store.put(location, { text, readAt });
    } catch (reason) {
      log.warn({ catalog: this.#shown, reason: messageOf(reason) }, "the price catalog could not be stored");
    }
  }

  #schedule(milliseconds: number): void {
    if (this.#isClosed) return;
    const wait = Math.min(Math.max(milliseconds, 0), TIMER_MS_MAX);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), wait);
    // A command that has done its work does not wait for the next refresh.
    this.#timer.unref();
  }
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
