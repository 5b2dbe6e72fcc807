import { type JsonObject, type ObservedUsage, parseObject } from "../../core/index.ts";
import { dataOf, eventsOf } from "../../streaming/index.ts";
import type { ReadUsage, StreamObserver } from "../dialect.ts";
import { generatedBytes } from "../generated-bytes.ts";
import { chatKeys } from "./generated-keys.ts";

/** Blocks kept to judge a stream's end by, for the upstreams that send no `[DONE]`. */
const LAST_BLOCKS = 3;

/** A usage that says something: `"usage":null` stands in every chunk but the last. */
const USAGE = /"usage"\s*:\s*[^n\s]/;

/** Searched for in the bytes, natively: a string's own search stops at every quote. */
const ERROR = Buffer.from('"error"');
const DONE_WORD = Buffer.from("[DONE]");

/** As a line of its own: a model may well write the same words into its text. */
const DONE = /(?:^|\n)data: ?\[DONE\]\r?(?:\n|$)/;

/**
 * The observer of a chat stream. A block is only taken apart where it holds a usage or the word `"error"`; all others
 * pass with a few searches.
 */
export class ChatStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #hideUsage: boolean;
  #usage: ObservedUsage | undefined;
  #outputBytes = 0;
  #done = false;
  #failed = false;
  readonly #last: string[] = [];

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
    return this.#done || this.#last.some((text) => /"finish_reason"\s*:\s*"/.test(text));
  }

  see(block: Buffer): Buffer {
    this.#outputBytes += generatedBytes(block, chatKeys);
    // One character a byte, since that is the cheapest text for an expression.
    const text = block.toString("latin1");
    if (block.includes(DONE_WORD) && DONE.test(text)) this.#done = true;
    if (block.includes(ERROR)) this.#noteErrors(block);
    if (this.#last.push(text) > LAST_BLOCKS) this.#last.shift();
    return USAGE.test(text) ? this.#noteUsage(block) : block;
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
      const chunk = USAGE.test(event.toString("latin1")) ? chunkOf(event) : undefined;
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

function chunkOf(event: Buffer): JsonObject | undefined {
  const data = dataOf(event);
  return data === undefined ? undefined : parseObject(data);
}
