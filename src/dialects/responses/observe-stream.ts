import { objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import { type ReadUsage, dataOf, eventsWith, type StreamObserver } from "../../streaming/index.ts";
import { GeneratedBytesMeter, generatedKeys } from "../generated-bytes.ts";

/**
 * Everything that is sent in pieces; events that repeat it whole are not counted. Includes the first quote, because the
 * types have the same ends.
 */
const deltaKeys = generatedKeys(['"delta']);

/** Types of events that end a stream: only events with one of these words are parsed. */
const NAMES = ["completed", "incomplete", "failed", "cancelled"]
  .map((name) => `"response.${name}"`)
  .concat('"error"')
  .map((name) => Buffer.from(name));

/** The type itself: earlier events have a member `error` as well, which is null. */
const ENDS = /"type"\s*:\s*"(?:response\.(?:completed|incomplete|failed|cancelled)|error)"/;

/** As a separate line. */
const DONE = /(?:^|\n)data: ?\[DONE\]\r?(?:\n|$)/;

/** With the upstream's own line ends: if its `[DONE]` is still on the way, it has these bytes. */
const doneEvent = (block: Buffer): Buffer => {
  const lineEnd = block.at(-2) === 0x0d ? "\r\n" : "\n";
  return Buffer.from(`data: [DONE]${lineEnd}${lineEnd}`);
};

/**
 * The observer of a Responses stream, whose last event contains the usage. Every byte passes unchanged; `[DONE]` is
 * added after the last event of a whole answer if the upstream does not send it, because some clients wait for it.
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
    // An event without its empty line at the upstream's close is completed first.
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
