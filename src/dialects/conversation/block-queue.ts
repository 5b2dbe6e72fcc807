import type { JsonObject } from "../../core/index.ts";
import type { AnswerEvent } from "./answer.ts";
import type { AnswerBlock, Citation, Signature } from "./parts.ts";

/**
 * Puts the blocks of one choice in sequence. Upstreams may interleave several blocks (arguments of parallel calls);
 * answer events are sequential. Data of a later block waits until the blocks before it are complete:
 *
 *   waiting ──all before it complete──▶ open (block-start, the waiting data, then deltas as they arrive) ──complete──▶ block-end
 *
 * Text is complete as soon as another block begins. The arguments of a call are complete once they are a JSON value,
 * which only white space can extend; arguments that never become one are complete when the answer ends.
 */
export class BlockQueue {
  readonly #choice: number;
  /** The first one is open, once it can be opened. */
  readonly #queue: QueuedBlock[] = [];
  #next = 0;
  readonly #blockEndsExplicit: boolean;

  /** `blockEndsExplicit`: the upstream marks the end of every block, so it need not be inferred. */
  constructor(choice: number, blockEndsExplicit = false) {
    this.#choice = choice;
    this.#blockEndsExplicit = blockEndsExplicit;
  }

  /** The block that was begun last and has not ended. */
  get last(): QueuedBlock | undefined {
    return this.#queue.at(-1);
  }

  /** `opens` is false for a block whose start is not known yet; call `open` once it is. */
  begin(start: AnswerBlock, events: AnswerEvent[], opens = true): QueuedBlock {
    const block = new QueuedBlock(this.#choice, start, opens);
    this.#queue.push(block);
    this.advance(events);
    return block;
  }

  /** Advances the queue: after a block was begun behind others, or grew while others wait. */
  advance(events: AnswerEvent[]): void {
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (!head.open(this.#next, events)) return;
      const over = !this.#blockEndsExplicit && this.#queue.length > 1 && head.whole;
      if (!head.startKnown && !over) return;
      this.#end(head, events);
    }
  }

  /** Ends all blocks in order. Returns those that could not be opened because their start never became known. */
  finish(events: AnswerEvent[]): QueuedBlock[] {
    const lost: QueuedBlock[] = [];
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      if (head.open(this.#next, events)) {
        this.#end(head, events);
      } else {
        lost.push(head);
        this.#queue.shift();
      }
    }
    return lost;
  }

  #end(head: QueuedBlock, events: AnswerEvent[]): void {
    head.ended = true;
    events.push({ type: "block-end", choice: this.#choice, index: this.#next });
    this.#queue.shift();
    this.#next += 1;
  }
}

/** A queued block, with data that cannot be emitted yet. */
export class QueuedBlock {
  start: AnswerBlock;
  /** Whether `start` is complete. */
  opens: boolean;
  /** Whether the upstream has marked the block as complete. */
  startKnown = false;
  ended = false;
  readonly #choice: number;
  #index: number | undefined;
  #waiting: AnswerEvent[] = [];
  #arguments = "";

  constructor(choice: number, start: AnswerBlock, opens: boolean) {
    this.#choice = choice;
    this.start = start;
    this.opens = opens;
  }

  get whole(): boolean {
    if (this.start.kind !== "tool-call") return true;
    return this.start.custom !== true && isWholeJson(this.#arguments);
  }

  add(text: string, events: AnswerEvent[], logprobs?: readonly JsonObject[], summary?: number): void {
    if (this.start.kind === "tool-call") this.#arguments += text;
    this.#emit({ type: "delta", choice: this.#choice, index: this.#index ?? 0, text, logprobs, summary }, events);
  }

  cite(citation: Citation, events: AnswerEvent[]): void {
    this.#emit({ type: "citation", choice: this.#choice, index: this.#index ?? 0, citation }, events);
  }

  sign(signature: Signature, events: AnswerEvent[]): void {
    this.#emit({ type: "signature", choice: this.#choice, index: this.#index ?? 0, signature }, events);
  }

  /** Whether the block has been opened. */
  open(index: number, events: AnswerEvent[]): boolean {
    if (this.#index !== undefined) return true;
    if (!this.opens) return false;
    this.#index = index;
    events.push({ type: "block-start", choice: this.#choice, index, block: this.start });
    for (const event of this.#waiting) events.push("index" in event ? { ...event, index } : event);
    this.#waiting = [];
    return true;
  }

  #emit(event: AnswerEvent, events: AnswerEvent[]): void {
    if (this.#index === undefined) this.#waiting.push(event);
    else events.push(event);
  }
}

/** Arguments are objects: checking the last character avoids parsing almost all incomplete ones. */
function isWholeJson(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
