import { dataOf, eventsOf } from "../streaming/index.ts";
import type { AnswerBlock, AnswerEvent, Failure, StopReason, StreamReader } from "./conversation/index.ts";

/** The beginning of a stream. */
type Progress = "nothing" | "refusal" | "content";

/** Sound, which is in no other dialect's answers and has no event of the conversation model. */
const SOUND = /"audio"\s*:\s*\{|"response\.(?:output_)?audio\.delta"/;

/** `reader`: of the upstream's dialect. */
export function firstContentOf(reader: StreamReader): FirstContent {
  return new FirstContent(reader);
}

/**
 * Reads a stream up to its first content: text, thoughts and their signatures, arguments of tools, sound, images, annotations,
 * or the reason why it stopped. Heads, roles, empty deltas and pings are none. A refusal is one only before all content.
 */
export class FirstContent {
  readonly #reader: StreamReader;
  readonly #refused = new Set<number>();
  #progress: Progress = "nothing";
  #characters = 0;
  #hasEnded = false;
  #failure: Failure | undefined;

  constructor(reader: StreamReader) {
    this.#reader = reader;
  }

  get progress(): Progress {
    return this.#progress;
  }

  /** The content so far, in UTF-16 units. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether the dialect's last event has passed, or an error. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The error with which the stream has ended. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Takes a block of whole events. */
  see(block: Buffer): void {
    for (const event of eventsOf(block)) {
      const data = dataOf(event);
      if (data === undefined) continue;
      for (const read of this.#reader.read(data)) this.#note(read);
      if (this.#progress === "nothing" && SOUND.test(data)) this.#progress = "content";
    }
  }

  #note(event: AnswerEvent): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- heads, usage and ends of blocks are no content
    switch (event.type) {
      case "block-start":
        return this.#noteStart(event.index, event.block);
      case "delta":
        this.#characters += event.text.length;
        if (event.text !== "") this.#reach(this.#refused.has(event.index) ? "refusal" : "content");
        return;
      case "citation":
      case "signature":
        return this.#reach("content");
      case "stop":
        return this.#reach(refusals.has(event.stop.reason) ? "refusal" : "content");
      case "end":
        this.#hasEnded = true;
        return;
      case "error":
        this.#hasEnded = true;
        this.#failure = event.failure;
    }
  }

  #noteStart(index: number, block: AnswerBlock): void {
    if (block.kind === "refusal") this.#refused.add(index);
    const isWhole = block.kind === "image" || block.kind === "native";
    const isSigned = block.kind === "reasoning" && block.signature !== undefined;
    if (isWhole || isSigned) this.#reach("content");
  }

  #reach(progress: Progress): void {
    if (this.#progress === "nothing") this.#progress = progress;
  }
}

const refusals: ReadonlySet<StopReason> = new Set(["refusal", "content-filter"]);

/** Whether the answer is nothing but a refusal. */
export function isRefusal(
  choices: readonly { blocks: readonly AnswerBlock[]; stop: { reason: StopReason } }[],
): boolean {
  return choices.every(
    ({ blocks, stop }) =>
      blocks.every(({ kind }) => kind === "refusal") && (blocks.length > 0 || refusals.has(stop.reason)),
  );
}
