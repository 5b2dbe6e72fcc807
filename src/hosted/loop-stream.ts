/**
 * A loop's answer as a stream of its client's dialect.
 *
 *   passing ──the last events──▶ ended "complete" ──stored──▶ those to the client
 *      ├──a failure──▶ ended "interrupted" ──▶ an error event to the client
 *      └──the client leaves──▶ everything under way is ended ──▶ ended "abandoned"; or, with a retry key, read to its end
 */
import type { StoredBody, WorkResult } from "../charges/index.ts";
import { GatewayError, type JsonObject, parseObject, toGatewayError } from "../core/index.ts";
import { type AnswerEvent, failureOf, type StreamWriter } from "../dialects/index.ts";
import { finalResponseOf } from "../objects/index.ts";
import { dataOf, eventsOf } from "../streaming/index.ts";
import type { LoopAnswer } from "./loop-parts.ts";

/** The silence after which the client gets a sign of life. */
const PING_MS = 10_000;

interface LoopStreamOptions extends LoopAnswer {
  /** Collects the answer of a call with a retry key, which goes on without its client. */
  recorder: StoredBody | undefined;
}

export class LoopStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #options: LoopStreamOptions;
  readonly #writer: StreamWriter;
  readonly #events: AsyncGenerator<readonly AnswerEvent[]>;
  #next: Promise<IteratorResult<readonly AnswerEvent[]>> | undefined;
  /** The client's last request for bytes, which may be under way. */
  #pulled: Promise<void> = Promise.resolve();
  #hasEnded = false;
  #hasLeft = false;

  constructor(options: LoopStreamOptions) {
    const { translation, context, loop, first, running } = options;
    this.#options = options;
    this.#writer = translation.streamWriter(context);
    this.#events = loop.events(first);
    this.readable = new ReadableStream<Uint8Array>(
      { pull: (controller) => (this.#pulled = this.#pull(controller)), cancel: () => this.#leave() },
      { highWaterMark: 0 },
    );
    const { signal } = running.client;
    signal.addEventListener("abort", () => this.#leave(), { once: true });
  }

  /** The next bytes. */
  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!this.#hasEnded) {
      const bytes = (await this.#orPing()) ?? new Uint8Array();
      if (this.#hasLeft) return;
      if (bytes.length > 0) controller.enqueue(bytes);
      if (bytes.length > 0 && !this.#hasEnded) return;
    }
    if (!this.#hasLeft) controller.close();
  }

  /** More of the stream; after a silence a sign of life. Empty for events without a text. */
  async #orPing(): Promise<Uint8Array> {
    this.#next ??= this.#events.next();
    const silence = Promise.withResolvers<undefined>();
    const stop = this.#options.running.watchdog.ticker.after(PING_MS, () => silence.resolve(undefined));
    try {
      const next = await Promise.race([this.#next, silence.promise]);
      if (next === undefined) return Buffer.from(this.#ping);
      this.#next = undefined;
      return next.done === true ? await this.#end([]) : await this.#write(next.value);
    } catch (thrown) {
      return this.#fail(thrown);
    } finally {
      stop();
    }
  }

  get #ping(): string {
    return this.#options.translation.dialect === "messages" ? 'event: ping\ndata: {"type":"ping"}\n\n' : ": ping\n\n";
  }

  #write(events: readonly AnswerEvent[]): Promise<Uint8Array> | Uint8Array {
    const last = events.at(-1)?.type;
    if (last === "end" || last === "error") return this.#end(events);
    const bytes = Buffer.from(events.map((event) => this.#writer.write(event)).join(""));
    this.#options.running.work.firstByte();
    this.#options.recorder?.add(bytes);
    return bytes;
  }

  /** The last bytes, once the end of the call is durable. */
  async #end(events: readonly AnswerEvent[]): Promise<Uint8Array> {
    const { running, loop, recorder, headers, first, answerOf } = this.#options;
    const bytes = Buffer.from(events.map((event) => this.#writer.write(event)).join(""));
    this.#hasEnded = true;
    const response = lastResponseIn(bytes);
    if (response !== undefined) await this.#options.kept?.(response);
    recorder?.add(bytes);
    const outcome = events.at(-1)?.type === "end" ? "complete" : "interrupted";
    const own = recorder && response && answerOf?.(response);
    const answer = own ?? (recorder && { headers, body: recorder });
    await running.end({ status: first.status, outcome, observed: { usage: {} }, error: loop.error, answer });
    return bytes;
  }

  async #fail(thrown: unknown): Promise<Uint8Array> {
    const { abort, running, first } = this.#options;
    const reason: unknown = abort.signal.aborted ? abort.signal.reason : thrown;
    const error = toGatewayError(reason);
    this.#hasEnded = true;
    abort.abort(error);
    const outcome: WorkResult["outcome"] = this.#hasLeft ? "abandoned" : "interrupted";
    await running.end({ status: first.status, outcome, observed: { usage: {} }, error }).catch(() => undefined);
    return Buffer.from(this.#writer.write({ type: "error", failure: failureOf(error) }));
  }

  /** The client has left. */
  #leave(): void {
    if (this.#hasLeft || this.#hasEnded) return;
    this.#hasLeft = true;
    const { abort, recorder, answerOf } = this.#options;
    // One in the background has been cancelled.
    if (recorder === undefined || answerOf !== undefined)
      abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    void this.#finishAlone();
  }

  /** Reads the rest. A call without a retry key has been ended, so that this takes no time. */
  async #finishAlone(): Promise<void> {
    const { abort } = this.#options;
    if (abort.signal.aborted) {
      await this.#events.return(undefined).catch(() => undefined);
      if (!this.#hasEnded) await this.#fail(abort.signal.reason);
      return;
    }
    // Two readers would both write the events that the client's own still waits for.
    await this.#pulled;
    while (!this.#hasEnded) await this.#orPing();
  }
}

/** The response in the last event of a stream of Responses. */
function lastResponseIn(bytes: Buffer): JsonObject | undefined {
  for (const event of eventsOf(bytes)) {
    const data = dataOf(event);
    const response = data === undefined ? undefined : finalResponseOf(parseObject(data) ?? {});
    if (response !== undefined) return response;
  }
  return undefined;
}
