import { type JsonObject, objectOf, parseObject } from "../core/index.ts";
import { type StreamObserver, dataOf, eventsOf } from "../streaming/index.ts";

/** The events that end a complete stream of Responses, and contain the response. */
const LAST_EVENTS: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);

/** Begins to observe a stream of Responses whose final response is needed. */
export function captureFinalResponse(observer: StreamObserver): FinalResponseCapture {
  return new FinalResponseCapture(observer);
}

/** An observer of a stream of Responses that captures the response as sent to the client. */
export class FinalResponseCapture implements StreamObserver {
  readonly #observer: StreamObserver;
  #response: JsonObject | undefined;

  constructor(observer: StreamObserver) {
    this.#observer = observer;
  }

  /** Undefined until the stream has ended completely. */
  get response(): JsonObject | undefined {
    return this.#response;
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

  see(block: Buffer): Buffer {
    return this.#catch(this.#observer.see(block));
  }

  close(): Buffer {
    return this.#catch(this.#observer.close?.() ?? Buffer.alloc(0));
  }

  #catch(shown: Buffer): Buffer {
    if (this.#response !== undefined || !this.#observer.complete) return shown;
    for (const event of eventsOf(shown)) {
      const data = parseObject(dataOf(event) ?? "");
      if (LAST_EVENTS.has(data?.["type"])) this.#response = objectOf(data?.["response"]);
    }
    return shown;
  }
}
