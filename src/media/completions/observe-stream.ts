import { type JsonObject, listOf, objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import { type ReadUsage, dataOf, eventAround, eventsOf, type StreamObserver } from "../../streaming/index.ts";

const DONE = "[DONE]";

/** Bytes of the texts of an answer or of one event. */
export function textBytes(answer: JsonObject): number {
  let bytes = 0;
  for (const choice of listOf(answer["choices"])) {
    const text = objectOf(choice)?.["text"];
    if (typeof text === "string") bytes += Buffer.byteLength(text);
  }
  return bytes;
}

/** Observes a stream of completions: data-only events, then one with the usage alone if it was asked for, then `[DONE]`. */
export class CompletionStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #hideUsage: boolean;
  #usage: ObservedUsage | undefined;
  #outputBytes = 0;
  #finished = false;
  #done = false;
  #failed = false;

  /** `hideUsage`: the gateway requested the event with the usage, the client did not. */
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

  get done(): boolean {
    return this.#done;
  }

  get complete(): boolean {
    return this.#done || this.#finished;
  }

  get failed(): boolean {
    return this.#failed;
  }

  see(block: Buffer): Buffer {
    const hidden = eventsOf(block).filter((event) => this.#note(event) && this.#hideUsage);
    let shown = block;
    for (const event of hidden) {
      const { start, end } = eventAround(shown, shown.indexOf(event));
      shown = Buffer.concat([shown.subarray(0, start), shown.subarray(end)]);
    }
    return shown;
  }

  /** Reads an event; returns whether it contains nothing but the usage. */
  #note(event: Buffer): boolean {
    const text = dataOf(event) ?? "";
    if (text === DONE) this.#done = true;
    const chunk = parseObject(text);
    if (chunk === undefined) return false;
    if (chunk["error"] !== undefined && chunk["error"] !== null) this.#failed = true;
    this.#outputBytes += textBytes(chunk);
    const choices = listOf(chunk["choices"]);
    this.#finished ||= choices.some((choice) => typeof objectOf(choice)?.["finish_reason"] === "string");
    const usage = this.#readUsage(chunk);
    this.#usage = usage ?? this.#usage;
    return (usage ?? objectOf(chunk["usage"])) !== undefined && choices.length === 0;
  }
}
