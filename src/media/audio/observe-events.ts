import { type JsonObject, type ObservedUsage, parseObject } from "../../core/index.ts";
import { type ReadUsage, dataOf, eventsOf, type StreamObserver } from "../../streaming/index.ts";

/** What sets the events of one kind of call apart. */
export interface AudioEvents {
  /** The type of the event that ends them, and names the usage. */
  last: string;
  readUsage: ReadUsage;
  /** Sees each event that is no error. */
  note(event: JsonObject): void;
  /** What has come so far is taken for, where no usage has been named. */
  usageSoFar(): ObservedUsage | undefined;
  /** Bytes of text that have come so far. */
  outputBytes(): number;
}

/** What ends the events of upstreams that tell them as in chat (vLLM). */
const DONE = "[DONE]";

/** The observer of OpenAI's named events of speech and of transcripts. Every byte passes unchanged. */
export class AudioEventObserver implements StreamObserver {
  readonly #events: AudioEvents;
  #named: ObservedUsage | undefined;
  #end: "complete" | "failed" | undefined;

  constructor(events: AudioEvents) {
    this.#events = events;
  }

  get usage(): ObservedUsage | undefined {
    return this.#named ?? this.#events.usageSoFar();
  }

  get outputBytes(): number {
    return this.#events.outputBytes();
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
    for (const event of eventsOf(block)) {
      const text = dataOf(event) ?? "";
      if (text === DONE) this.#end ??= "complete";
      const data = parseObject(text);
      if (data !== undefined && this.#end === undefined) this.#note(data);
    }
    return block;
  }

  #note(event: JsonObject): void {
    const { type, error } = event;
    if (type === "error" || (error !== undefined && error !== null)) {
      this.#end = "failed";
      return;
    }
    this.#events.note(event);
    if (type !== this.#events.last) return;
    this.#end = "complete";
    this.#named = this.#events.readUsage(event);
  }
}
