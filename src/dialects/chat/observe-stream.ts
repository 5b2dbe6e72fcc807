import { type JsonObject, type ObservedUsage, parseObject } from "../../core/index.ts";
import { dataOf, eventsOf } from "../../streaming/index.ts";
import type { ReadUsage, StreamObserver } from "../dialect.ts";
import { generatedBytes } from "../generated-bytes.ts";
import { chatKeys } from "./generated-keys.ts";

/** Events kept to judge a stream's end by, for the upstreams that send no `[DONE]`. */
const LAST_EVENTS = 3;

const USAGE = '"usage"';

/** As a line of its own: a model may well write the same words into its text. */
const DONE = /(?:^|\n)data: ?\[DONE\]\r?(?:\n|$)/;

/**
 * The observer of a chat stream. A block is only taken apart where it holds the word `"usage"` or `"error"`; all others
 * pass with a few searches through their bytes.
 */
export class ChatStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #hideUsage: boolean;
  #usage: ObservedUsage | undefined;
  #outputBytes = 0;
  #done = false;
  #failed = false;
  #last: Buffer[] = [];

  /** `hideUsage`: the client did not ask for the usage chunk that the gateway asked for. */
  constructor(readUsage: ReadUsage, hideUsage: boolean) {
    this.#readUsage = readUsage;
    this.#hideUsage = hideUsage;
  }

  get usage(): ObservedUsage | undefined {
    return this.#usage;
  }

  get outputBytes(): number {
    return this.#outputBytes;
  }

  get failed(): boolean {
    return this.#failed;
  }

  get done(): boolean {
    return this.#done;
  }

  get complete(): boolean {
    return this.#done || this.#last.some((event) => /"finish_reason"\s*:\s*"/.test(event.toString("utf8")));
  }

  see(block: Buffer): Buffer {
    this.#outputBytes += generatedBytes(block, chatKeys);
    if (block.includes("[DONE]") && DONE.test(block.toString("latin1"))) this.#done = true;
    if (block.includes('"error"')) this.#noteErrors(block);
    const shown = block.includes(USAGE) ? this.#noteUsage(block) : block;
    this.#last = [...this.#last.slice(1 - LAST_EVENTS), block];
    return shown;
  }

  #noteErrors(block: Buffer): void {
    for (const event of eventsOf(block)) {
      const chunk = chunkOf(event);
      if (chunk !== undefined && chunk["error"] !== undefined && chunk["error"] !== null) this.#failed = true;
    }
  }

  /** Reads the usage and leaves out the events that hold nothing else, where the client did not ask for them. */
  #noteUsage(block: Buffer): Buffer {
    const shown: Buffer[] = [];
    for (const event of eventsOf(block)) {
      const chunk = mentionsUsage(event) ? chunkOf(event) : undefined;
      const usage = chunk === undefined ? undefined : this.#readUsage(chunk);
      if (usage !== undefined) this.#usage = usage;
      const choices = chunk?.["choices"];
      const usageOnly = usage !== undefined && Array.isArray(choices) && choices.length === 0;
      if (!usageOnly || !this.#hideUsage) shown.push(event);
    }
    if (shown.length === 1 && shown[0]?.length === block.length) return block;
    return Buffer.concat(shown);
  }
}

/** `"usage":null` stands in every chunk but the last and is not worth a parse. */
function mentionsUsage(event: Buffer): boolean {
  for (let at = event.indexOf(USAGE); at !== -1; at = event.indexOf(USAGE, at + 1)) {
    if (!/^\s*:\s*null/.test(event.toString("latin1", at + USAGE.length, at + USAGE.length + 8))) return true;
  }
  return false;
}

function chunkOf(event: Buffer): JsonObject | undefined {
  const data = dataOf(event);
  return data === undefined ? undefined : parseObject(data);
}
