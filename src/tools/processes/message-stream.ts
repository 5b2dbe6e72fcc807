/** The messages of one call on their way to the gateway: JSON if there is only a result, else a stream of events. */
import type { JsonObject } from "../../core/index.ts";
import { EVENT_HEADERS } from "../../streaming/index.ts";

const encoder = new TextEncoder();

function eventOf(message: JsonObject): Uint8Array {
  return encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

const COMMENT = encoder.encode(":\n\n");

/** Bytes that wait for their reader. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;

export class MessageStream {
  readonly #response = Promise.withResolvers<Response>();
  readonly #onGone: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  /** `onGone` is called if the reader leaves. */
  constructor(onGone: () => void) {
    this.#onGone = onGone;
  }

  get response(): Promise<Response> {
    return this.#response.promise;
  }

  /** Begins the stream at once. */
  open(headers: Readonly<Record<string, string>> = {}): void {
    if (this.#controller !== undefined) return;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#onGone(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
    this.#response.resolve(new Response(body, { headers: { ...EVENT_HEADERS, ...headers } }));
  }

  /** Bytes without a message. */
  comment(): void {
    this.#send(COMMENT);
  }

  /** A message before the result. */
  push(message: JsonObject): void {
    this.open();
    this.#enqueue(message);
  }

  /** The result, or an error. */
  end(message: JsonObject, headers: Record<string, string> = {}): void {
    if (this.#controller === undefined) {
      this.#response.resolve(Response.json(message, { headers }));
      return;
    }
    this.#enqueue(message);
    this.close();
  }

  /** There will be no result. */
  fail(): void {
    if (this.#controller === undefined) this.#response.resolve(new Response(undefined, { status: 502 }));
    else this.close();
  }

  close(): void {
    try {
      this.#controller?.close();
    } catch {
      // The reader has left.
    }
  }

  #enqueue(message: JsonObject): void {
    this.#send(eventOf(message));
  }

  /** Ends the stream of a reader who does not read. */
  #send(bytes: Uint8Array): void {
    try {
      this.#controller?.enqueue(bytes);
      if ((this.#controller?.desiredSize ?? 0) < -WAITING_BYTES_MAX) this.close();
    } catch {
      // The reader has left.
    }
  }
}
