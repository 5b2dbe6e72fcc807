import { type JsonObject, objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import {
  type ChargedUsage,
  type ReadUsage,
  dataOf,
  eventAround,
  eventsWith,
  type StreamObserver,
} from "../../streaming/index.ts";
import { GeneratedBytesMeter } from "../generated-bytes.ts";
import { chatKeys } from "./generated-keys.ts";
import { withUsageChunk } from "./tell-usage.ts";

/** The number of blocks kept to judge a stream's end, for upstreams that send no `[DONE]`. */
const LAST_BLOCKS = 3;

const FINISH = /"finish_reason"\s*:\s*"/;

/** A native search over bytes: a string's own search stops at every quote. */
const USAGE = Buffer.from('"usage"');
const ERROR = Buffer.from('"error"');
const DONE_WORD = Buffer.from("[DONE]");

/** The text that may precede it on its line. */
const DATA_FIELDS = [Buffer.from("data: "), Buffer.from("data:")];

/**
 * Whether the client gets the chunk with the usage: hidden if the gateway alone has requested it. A function makes one, of what is
 * charged, if the upstream sends none.
 */
type ToldUsage = "hidden" | "shown" | ChargedUsage;

/**
 * The observer of a chat stream. A block is only parsed if it contains a usage or the word `"error"`; all others pass
 * after a few searches.
 */
export class ChatStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #told: ToldUsage;
  #usage: ObservedUsage | undefined;
  readonly #generated = new GeneratedBytesMeter(chatKeys);
  #done = false;
  #failed = false;
  readonly #last: Buffer[] = [];

  constructor(readUsage: ReadUsage, told: ToldUsage) {
    this.#readUsage = readUsage;
    this.#told = told;
  }

  get usage(): ObservedUsage | undefined {
    return this.#usage;
  }

  get outputBytes(): number {
    return this.#generated.bytes;
  }

  get outputBytesSinceUsage(): number {
    return this.#generated.bytesSinceMark;
  }

  get failed(): boolean {
    return this.#failed;
  }

  get done(): boolean {
    return this.#done;
  }

  get complete(): boolean {
    return this.#done || this.#last.some((block) => FINISH.test(block.toString("latin1")));
  }

  see(block: Buffer): Buffer {
    this.#generated.add(block);
    const ends = !this.#done && isDoneLine(block);
    if (ends) this.#done = true;
    if (block.includes(ERROR)) this.#noteErrors(block);
    if (this.#last.push(block) > LAST_BLOCKS) this.#last.shift();
    const usageAt = findUsage(block, 0);
    const shown = usageAt === -1 ? block : this.#noteUsage(block, usageAt);
    if (!ends || this.#usage !== undefined || typeof this.#told === "string") return shown;
    return withUsageChunk(shown, this.#last, this.#told(undefined, this.outputBytes));
  }

  #noteErrors(block: Buffer): void {
    for (const event of eventsWith(block, [ERROR])) {
      const chunk = chunkOf(event);
      if (chunk !== undefined && chunk["error"] !== undefined && chunk["error"] !== null) this.#failed = true;
    }
  }

  /** Reads the usage, and removes events that contain nothing else if the client did not request them. */
  #noteUsage(block: Buffer, first: number): Buffer {
    const shown: Buffer[] = [];
    let from = 0;
    for (let at = first; at !== -1;) {
      const { start, end } = eventAround(block, at);
      const before = this.#usage;
      const isAlone = this.#holdsUsageAlone(block.subarray(start, end));
      if (this.#usage !== before) this.#generated.mark(end === block.length);
      if (isAlone && this.#told === "hidden") {
        shown.push(block.subarray(from, start));
        from = end;
      }
      at = findUsage(block, end);
    }
    return from === 0 ? block : Buffer.concat([...shown, block.subarray(from)]);
  }

  #holdsUsageAlone(event: Buffer): boolean {
    const chunk = chunkOf(event);
    if (chunk === undefined) return false;
    const usage = this.#readUsage(chunk);
    this.#usage = usage ?? this.#usage;
    const { choices } = chunk;
    return Array.isArray(choices) && choices.length === 0 && (usage ?? objectOf(chunk["usage"])) !== undefined;
  }
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Whether a line is the end mark of the stream: a model may write the same words into its text. */
function isDoneLine(block: Buffer): boolean {
  for (let at = block.indexOf(DONE_WORD); at !== -1; at = block.indexOf(DONE_WORD, at + DONE_WORD.length)) {
    if (endsLine(block, at + DONE_WORD.length) && beginsData(block, at)) return true;
  }
  return false;
}

function endsLine(block: Buffer, at: number): boolean {
  const next = block[at] === CARRIAGE_RETURN ? block[at + 1] : block[at];
  return next === undefined || next === LINE_FEED;
}

/** Whether only the name of the field precedes `at` on its line. */
function beginsData(block: Buffer, at: number): boolean {
  return DATA_FIELDS.some((field) => {
    const start = at - field.length;
    const isLine = start === 0 || (start > 0 && block[start - 1] === LINE_FEED);
    return isLine && block.subarray(start, at).equals(field);
  });
}

const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const COLON = 0x3a;
const NULL = 0x6e;

/** The position of a usage with content, or -1: every chunk but the last contains `"usage":null`. */
function findUsage(block: Buffer, from: number): number {
  for (let at = block.indexOf(USAGE, from); at !== -1; at = block.indexOf(USAGE, at + USAGE.length)) {
    const colon = skipBlanks(block, at + USAGE.length);
    if (block[colon] === COLON && block[skipBlanks(block, colon + 1)] !== NULL) return at;
  }
  return -1;
}

/** The position after optional white space and the colon between a key and its value. */
function skipBlanks(block: Buffer, from: number): number {
  let at = from;
  while (BLANKS.has(block[at])) at += 1;
  return at;
}

function chunkOf(event: Buffer): JsonObject | undefined {
  const data = dataOf(event);
  return data === undefined ? undefined : parseObject(data);
}
