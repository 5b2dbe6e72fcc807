import { listOf, objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import { dataOf, eventAround, eventsWith, type ReadUsage, type StreamObserver } from "../../streaming/index.ts";
import { GeneratedBytesMeter, generatedKeys } from "../generated-bytes.ts";
import { BilledMembers } from "./answers/billed-members.ts";

/** Texts, thoughts among them; arguments are objects, and are counted by the upstream. */
export const geminiKeys = generatedKeys(["text"], ["groundingMetadata"]);

/**
 * Events with more than text and running figures are parsed: those with a reason for an end or a refusal (`finishReason`,
 * `blockReason`), with sources, with an error, and with arguments, whose names may be any. Ends of their keys, since a search for
 * a quote stops at each quote.
 */
const ENDS = ['Reason"', 'groundingMetadata"', 'args"', 'error"'].map((name) => Buffer.from(name));

/** In almost every event: of those of a block, the last one counts. */
const USAGE = Buffer.from('"usageMetadata"');

/**
 * The observer of a Gemini stream. Every byte passes unchanged. The stream has no last event: it is complete once an answer
 * in it has a reason for its end, and ends with the connection.
 */
export class GeminiStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #generated = new GeneratedBytesMeter(geminiKeys);
  readonly #billed = new BilledMembers();
  #usage: ObservedUsage | undefined;
  /** Whether more has been billed since it was read. */
  #isChanged = false;
  /** The last events with figures, until they are asked for: each replaces the one before. */
  #unread: { events: Buffer; at: number } | undefined;
  #isComplete = false;
  #failed = false;

  constructor(readUsage: ReadUsage) {
    this.#readUsage = readUsage;
  }

  get usage(): ObservedUsage | undefined {
    this.#readFigures();
    if (this.#isChanged) this.#usage = this.#readUsage(this.#billed.answer);
    this.#isChanged = false;
    return this.#usage;
  }

  get outputBytes(): number {
    return this.#generated.bytes;
  }

  get outputBytesSinceUsage(): number {
    return this.#generated.bytesSinceMark;
  }

  /** More may follow, such as counts and sources. */
  get done(): boolean {
    return false;
  }

  get complete(): boolean {
    return this.#isComplete;
  }

  get failed(): boolean {
    return this.#failed;
  }

  see(block: Buffer): Buffer {
    this.#generated.add(block);
    if (ENDS.some((end) => block.includes(end))) this.#noteAll(block);
    else this.#noteFigures(block);
    return block;
  }

  #noteAll(block: Buffer): void {
    let from = 0;
    for (const event of eventsWith(block, ENDS)) {
      const start = event.byteOffset - block.byteOffset;
      this.#noteFigures(block.subarray(from, start));
      this.#note(event);
      from = start + event.length;
    }
    this.#noteFigures(block.subarray(from));
  }

  /** Of events without arguments: the figures are a member of the chunk itself. */
  #noteFigures(events: Buffer): void {
    const at = events.lastIndexOf(USAGE);
    if (at === -1) return;
    if (beginsWithCount(events, at + USAGE.length)) {
      this.#unread = { events, at };
      this.#generated.mark(true);
    } else for (const event of eventsWith(events, [USAGE])) this.#note(event);
  }

  #readFigures(): void {
    const unread = this.#unread;
    if (unread === undefined) return;
    this.#unread = undefined;
    this.#isChanged = true;
    const { start, end } = eventAround(unread.events, unread.at);
    this.#billed.add(parseObject(dataOf(unread.events.subarray(start, end)) ?? "") ?? {});
  }

  #note(event: Buffer): void {
    const chunk = parseObject(dataOf(event) ?? "") ?? {};
    if (objectOf(chunk["error"]) !== undefined) this.#failed = true;
    const added = this.#billed.add(chunk);
    this.#isChanged ||= added !== undefined;
    // Searches count no output.
    if (added === "figures") {
      this.#unread = undefined;
      this.#generated.mark(true);
    }
    const isBlocked = objectOf(chunk["promptFeedback"])?.["blockReason"] !== undefined;
    const isOver = listOf(chunk["candidates"]).some((one) => typeof objectOf(one)?.["finishReason"] === "string");
    this.#isComplete ||= isBlocked || isOver;
  }
}

/** The structure of figures that count something: the prompt's tokens come first. */
const FIRST_COUNT = [Buffer.from(":"), Buffer.from("{"), Buffer.from('"promptTokenCount"'), Buffer.from(":")];
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const ONE = 0x31;
const NINE = 0x39;

/** Whether these words and a number above zero follow at `from`, with or without white space between them. */
function beginsWithCount(json: Buffer, from: number): boolean {
  let at = skipBlanks(json, from);
  for (const word of FIRST_COUNT) {
    // Comparing so few bytes one by one is faster than a call.
    for (let index = 0; index < word.length; index += 1) if (json[at + index] !== word[index]) return false;
    at = skipBlanks(json, at + word.length);
  }
  const digit = json[at] ?? 0;
  return digit >= ONE && digit <= NINE;
}

function skipBlanks(json: Buffer, from: number): number {
  let at = from;
  while (BLANKS.has(json[at])) at += 1;
  return at;
}
