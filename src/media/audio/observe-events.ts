import { type JsonObject, type ObservedUsage, parseObject } from "../../core/index.ts";
import { type ReadUsage, dataOf, eventsOf, type StreamObserver } from "../../streaming/index.ts";

/** The differences between the events of the kinds of calls. */
export interface AudioEvents {
  /** The type of the last event, which contains the usage. */
  last: string;
  readUsage: ReadUsage;
  /** Called for each event except errors. */
  note(event: JsonObject): void;
  /** The estimated usage so far, if none was reported. */
  usageSoFar(): ObservedUsage | undefined;
  /** Bytes of text so far. */
  outputBytes(): number;
}

/** The end mark of upstreams that use chat's events (vLLM). */
const DONE = "[DONE]";

/** The observer of OpenAI's named events of speech and transcripts. Every byte passes unchanged. */
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
