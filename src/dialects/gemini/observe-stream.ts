import { type JsonObject, listOf, objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import { dataOf, eventAround, eventsWith, type ReadUsage, type StreamObserver } from "../../streaming/index.ts";
import { GeneratedBytesMeter, generatedKeys } from "../generated-bytes.ts";

/** Texts, thoughts among them; arguments are objects, and are counted by the upstream. */
export const geminiKeys = generatedKeys(["text"], ["groundingMetadata"]);

/** Events with more than text and running figures: each that contains one of these is parsed. */
const NAMES = ['"groundingMetadata"', '"finishReason"', '"promptFeedback"', '"error"'].map((name) => Buffer.from(name));

/** In almost every event: of those of a block, the last one counts. */
const USAGE = Buffer.from('"usageMetadata"');

/**
 * The observer of a Gemini stream. Every byte passes unchanged. The stream has no last event: it is complete once every answer
 * in it has a reason for its end, and ends with the connection.
 */
export class GeminiStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #generated = new GeneratedBytesMeter(geminiKeys);
  #usage: ObservedUsage | undefined;
  /** The last event with figures, unless it has been read: each replaces the one before, and hardly any is asked for. */
  #unread: Buffer | undefined;
  #isComplete = false;
  #failed = false;

  constructor(readUsage: ReadUsage) {
    this.#readUsage = readUsage;
  }

  get usage(): ObservedUsage | undefined {
    this.#readFigures();
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
    let from = 0;
    for (const event of eventsWith(block, NAMES)) {
      this.#readFigures();
      this.#note(parseObject(dataOf(event) ?? "") ?? {});
      from = event.byteOffset + event.length - block.byteOffset;
    }
    const last = block.lastIndexOf(USAGE);
    if (last < from) return block;
    const { start, end } = eventAround(block, last);
    this.#unread = block.subarray(start, end);
    this.#generated.mark(true);
    return block;
  }

  #readFigures(): void {
    const event = this.#unread;
    if (event === undefined) return;
    this.#unread = undefined;
    this.#usage = this.#readUsage(parseObject(dataOf(event) ?? "") ?? {}, this.#usage) ?? this.#usage;
  }

  #note(chunk: JsonObject): void {
    if (objectOf(chunk["error"]) !== undefined) this.#failed = true;
    const observed = this.#readUsage(chunk, this.#usage);
    if (observed !== undefined) {
      this.#usage = observed;
      // Searches count no output.
      if (objectOf(chunk["usageMetadata"]) !== undefined) this.#generated.mark(true);
    }
    const isBlocked = objectOf(chunk["promptFeedback"])?.["blockReason"] !== undefined;
    const isOver = listOf(chunk["candidates"]).some((one) => typeof objectOf(one)?.["finishReason"] === "string");
    this.#isComplete ||= isBlocked || isOver;
  }
}
