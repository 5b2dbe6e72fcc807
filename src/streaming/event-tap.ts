import { type JsonObject, parseObject } from "../core/index.ts";
import { dataOf, eventsWith } from "./events.ts";
import type { StreamObserver } from "./stream-observer.ts";

/** The receiver of a tapped stream's events. */
export interface EventTapOptions {
  /** Only events that contain one of these words are parsed. */
  words: readonly Buffer[];
  /** Called for each of them, as the client gets it. */
  onEvent: (event: JsonObject) => void;
}

/** Wraps an observer: events that it returns for the client are also read. */
export function tapEvents(observer: StreamObserver, options: EventTapOptions): StreamObserver {
  return new EventTap(observer, options);
}

class EventTap implements StreamObserver {
  readonly #observer: StreamObserver;
  readonly #options: EventTapOptions;

  constructor(observer: StreamObserver, options: EventTapOptions) {
    this.#observer = observer;
    this.#options = options;
  }

  get usage() {
    return this.#observer.usage;
  }

  get outputBytes() {
    return this.#observer.outputBytes;
  }

  get done() {
    return this.#observer.done;
  }

  get complete() {
    return this.#observer.complete;
  }

  get failed() {
    return this.#observer.failed;
  }

  get cut() {
    return this.#observer.cut ?? false;
  }

  see(block: Buffer): Buffer {
    return this.#read(this.#observer.see(block));
  }

  close(): Buffer {
    return this.#read(this.#observer.close?.() ?? Buffer.alloc(0));
  }

  heldBack(): Buffer {
    return this.#read(this.#observer.heldBack?.() ?? Buffer.alloc(0));
  }

  #read(shown: Buffer): Buffer {
    const { words, onEvent } = this.#options;
    for (const event of eventsWith(shown, words)) {
      const data = parseObject(dataOf(event) ?? "");
      if (data !== undefined) onEvent(data);
    }
    return shown;
  }
}
