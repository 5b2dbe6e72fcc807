/** Progress and log messages of a request whose client waits at another process: several go there together. */
import { type JsonObject, objectOf, objectsOf } from "../../core/index.ts";
import { isLogged, type LogLevel, logLevelOf, type ServerLog } from "../../mcp/index.ts";
import type { Ticker } from "../../streaming/index.ts";

const GATHER_MS = 250;

/** Log messages that go together, and their characters; others are dropped. */
const MESSAGES_MAX = 100;
const CHARACTERS_MAX = 64 * 1024;

/** The notifications that a client takes. */
export interface Reporting {
  onProgress: ((params: JsonObject) => void) | undefined;
  log: ServerLog | undefined;
}

interface GatheredReportsOptions {
  ticker: Ticker;
  /** See `wantedReports`. */
  wanted: unknown;
  send: (reports: JsonObject) => void;
}

/** The notifications that a client takes, for the process with its request. */
export function wantedReports({ onProgress, log }: Reporting): JsonObject {
  return { progress: onProgress !== undefined, ...(log !== undefined && { log: { level: log.level } }) };
}

/** Gives a client the reports of another process. */
export function passReports(reports: unknown, { onProgress, log }: Reporting): void {
  const { messages, progress } = objectOf(reports) ?? {};
  for (const message of objectsOf(messages)) log?.send(message);
  const last = objectOf(progress);
  if (last !== undefined) onProgress?.(last);
}

export class GatheredReports implements Reporting {
  readonly onProgress: Reporting["onProgress"];
  readonly log: ServerLog | undefined;
  readonly #options: GatheredReportsOptions;
  #progress: JsonObject | undefined;
  #messages: JsonObject[] = [];
  #charactersLeft = CHARACTERS_MAX;
  #stopTimer: (() => void) | undefined;

  constructor(options: GatheredReportsOptions) {
    this.#options = options;
    const { progress, log } = objectOf(options.wanted) ?? {};
    if (progress === true) this.onProgress = (params) => this.#gather(() => (this.#progress = params));
    const level = logLevelOf(objectOf(log)?.["level"]);
    if (log !== undefined) this.log = { level, send: (params) => this.#addMessage(params, level) };
  }

  /** Those that were not sent so far. No others are. */
  rest(): JsonObject {
    this.#stopTimer?.();
    const reports = { messages: this.#messages, ...(this.#progress !== undefined && { progress: this.#progress }) };
    [this.#messages, this.#progress, this.#charactersLeft] = [[], undefined, CHARACTERS_MAX];
    return reports;
  }

  #addMessage(params: JsonObject, from: LogLevel | undefined): void {
    const level = logLevelOf(params["level"]);
    if (level === undefined || (from !== undefined && !isLogged(level, from))) return;
    const characters = JSON.stringify(params).length;
    if (this.#messages.length >= MESSAGES_MAX || characters > this.#charactersLeft) return;
    this.#charactersLeft -= characters;
    this.#gather(() => this.#messages.push(params));
  }

  #gather(add: () => unknown): void {
    add();
    this.#stopTimer ??= this.#options.ticker.after(GATHER_MS, () => {
      this.#stopTimer = undefined;
      this.#options.send(this.rest());
    });
  }
}
