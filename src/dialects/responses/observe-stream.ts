import { objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import { type ReadUsage, dataOf, eventsWith, type StreamObserver } from "../../streaming/index.ts";
import { GeneratedBytesMeter, generatedKeys } from "../generated-bytes.ts";

/** Whatever is said in pieces; the events that repeat it whole are not counted. With its first quote, since the types end so too. */
const deltaKeys = generatedKeys('"delta');

/** Types of events that end a stream: only an event with one of these words is looked at. */
const NAMES = ["completed", "incomplete", "failed", "cancelled"]
  .map((name) => `"response.${name}"`)
  .concat('"error"')
  .map((name) => Buffer.from(name));

/** The type itself: events on the way have a member `error` as well, which is null. */
const ENDS = /"type"\s*:\s*"(?:response\.(?:completed|incomplete|failed|cancelled)|error)"/;

/** As a line of its own. */
const DONE = /(?:^|\n)data: ?\[DONE\]\r?(?:\n|$)/;

/** With the upstream's own line ends: where its `[DONE]` is on the way still, this is what it will be. */
const doneEvent = (block: Buffer): Buffer => {
  const lineEnd = block.at(-2) === 0x0d ? "\r\n" : "\n";
  return Buffer.from(`data: [DONE]${lineEnd}${lineEnd}`);
};

/**
 * The observer of a Responses stream, whose last event names the usage. Every byte passes unchanged; `[DONE]` is put
 * behind the last event of a whole answer where the upstream has not done so, since some clients wait for it.
 */
export class ResponsesStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  #usage: ObservedUsage | undefined;
  readonly #generated = new GeneratedBytesMeter(deltaKeys);
  #end: "complete" | "failed" | undefined;

  constructor(readUsage: ReadUsage) {
    this.#readUsage = readUsage;
  }

  get usage(): ObservedUsage | undefined {
    return this.#usage;
  }

  get outputBytes(): number {
    return this.#generated.bytes;
  }

  get done(): boolean {
    return this.#end !== undefined;
  }

  get complete(): boolean {
    return this.#end === "complete";
  }

  get failed(): boolean {
    return this.#end === "failed";
  }

  see(block: Buffer): Buffer {
    this.#generated.add(block);
    if (this.#end !== undefined) return block;
    for (const event of eventsWith(block, NAMES)) {
      if (ENDS.test(event.toString("latin1"))) this.#note(dataOf(event) ?? "");
    }
    if (!this.complete || DONE.test(block.toString("latin1"))) return block;
    // An event that the upstream's close cut short of its empty line is ended first.
    const gap = /\n\r?\n$/.test(block.subarray(-3).toString("latin1")) ? [] : [Buffer.from("\n\n")];
    return Buffer.concat([block, ...gap, doneEvent(block)]);
  }

  #note(data: string): void {
    const event = parseObject(data);
    switch (event?.["type"]) {
      case "response.completed":
      case "response.incomplete":
        this.#end = "complete";
        break;
      case "response.failed":
      case "response.cancelled":
      case "error":
        this.#end = "failed";
        break;
      default:
        return;
    }
    this.#usage = this.#readUsage(objectOf(event?.["response"]) ?? {}) ?? this.#usage;
  }
}
