/** The messages of a server's answer to one POST: JSON, or a stream of events that ends with the response. */
import { type BodySink, type JsonObject, objectOf, parseObject, type UpstreamReply } from "../../core/index.ts";
import { dataOf, EVENT_STREAM, EventSplitter, eventsOf } from "../../streaming/index.ts";
import { collectBody } from "../../upstream/index.ts";
import { tooLarge } from "./ask-server.ts";

export interface MessageReading {
  /** Undefined for a stream without a response. */
  id: number | undefined;
  /** Of all messages together. */
  bytesMax: number;
  /** Of one message, unless that is the same. */
  messageBytesMax?: number;
  onNotification?: ((method: string, params: JsonObject) => void) | undefined;
  /** Called with a request of the server, which waits for its answer. */
  onRequest?: ((request: ServerRequest) => void) | undefined;
  /** Of a stream that can be read on. */
  position?: StreamPosition;
}

/** How far an answer was read, on all of its streams. */
export interface StreamPosition {
  /** The last event with an id; undefined if there was none that can be named. */
  eventId: string | undefined;
  /** How long the server wants a client to wait that reads on. */
  retryMs: number | undefined;
  bytes: number;
  /** Events with an id. */
  events: number;
}

/** A request of a server to its client. */
export interface ServerRequest {
  id: string | number;
  method: string;
  params: JsonObject;
}

/** The response to the request with this id; undefined if there is none. Rejects with 502 beyond the bound. */
export async function readMessages(reply: UpstreamReply, reading: MessageReading): Promise<JsonObject | undefined> {
  if (isEventStream(reply)) {
    const reader = new EventReader(reply, reading);
    reply.body.flowTo(reader);
    return reader.response;
  }
  const collected = await collectBody(reply.body, reading.bytesMax);
  if ("exceeded" in collected) throw tooLarge(reading.bytesMax);
  const message = parseObject(collected.bytes.toString());
  return message?.["id"] === reading.id || objectOf(message?.["error"]) !== undefined ? message : undefined;
}

/** Whether the messages come one by one. */
export function isEventStream({ headers }: Pick<UpstreamReply, "headers">): boolean {
  return headers.get("content-type")?.startsWith(EVENT_STREAM) === true;
}

/** The id and the pause that an event sets, if it sets them. */
const ID_LINE = /(?:^|[\r\n])id: ?([^\r\n]*)/;
const RETRY_LINE = /(?:^|[\r\n])retry: ?(\d{1,12})(?:[\r\n]|$)/;

/** An id that can be a header. */
const EVENT_ID = /^[\x20-\x7e]{1,1024}$/;

function note(position: StreamPosition, event: Buffer): void {
  const text = event.toString("latin1");
  const id = ID_LINE.exec(text)?.[1];
  if (id !== undefined) {
    position.events += 1;
    position.eventId = EVENT_ID.test(id) ? id : undefined;
  }
  const retry = RETRY_LINE.exec(text)?.[1];
  if (retry !== undefined) position.retryMs = Number(retry);
}

class EventReader implements BodySink {
  readonly #reply: UpstreamReply;
  readonly #reading: MessageReading;
  readonly #splitter: EventSplitter;
  readonly #settled = Promise.withResolvers<JsonObject | undefined>();
  readonly #position: StreamPosition;
  #isOver = false;

  constructor(reply: UpstreamReply, reading: MessageReading) {
    this.#reply = reply;
    this.#reading = reading;
    this.#position = reading.position ?? { eventId: undefined, retryMs: undefined, bytes: 0, events: 0 };
    this.#splitter = new EventSplitter(reading.messageBytesMax ?? reading.bytesMax, { changesCr: true });
  }

  get response(): Promise<JsonObject | undefined> {
    return this.#settled.promise;
  }

  onBytes(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#position.bytes += bytes.length;
    if (this.#position.bytes > this.#reading.bytesMax) {
      this.#reply.body.cancel();
      this.onFailure(tooLarge(this.#reading.bytesMax));
      return;
    }
    this.#read(this.#splitter.push(bytes), true);
  }

  onEnd(): void {
    if (!this.#isOver) this.#read(this.#splitter.rest(), false);
    this.#isOver = true;
    this.#settled.resolve(undefined);
  }

  onFailure(cause: unknown): void {
    this.#isOver = true;
    this.#settled.reject(cause);
  }

  /** What is read on begins behind the last whole event. */
  #read(block: Buffer, isWhole: boolean): void {
    for (const event of eventsOf(block)) {
      const message = parseObject(dataOf(event) ?? "");
      const { id, method } = message ?? {};
      if (typeof method === "string") {
        const params = objectOf(message?.["params"]) ?? {};
        if (id === undefined) this.#reading.onNotification?.(method, params);
        else if (typeof id === "string" || typeof id === "number") this.#reading.onRequest?.({ id, method, params });
      } else if (message !== undefined && id === this.#reading.id) {
        // Whatever else it sends belongs to nothing.
        this.#isOver = true;
        this.#reply.body.cancel();
        this.#settled.resolve(message);
        return;
      }
      if (isWhole && this.#reading.position !== undefined) note(this.#position, event);
    }
  }
}
