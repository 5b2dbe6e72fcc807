/**
 * One response in the background, while this process runs it:
 *
 *   reading ──events──▶ kept, a batch at a time ──the last one──▶ ended
 *      ├──cancelled──▶ its call is left, which charges its text so far ──▶ ended, "cancelled"
 *      └──breaks off, or takes an hour──▶ ended, "failed"
 *
 * The last event arrives once the charge is durable, and is stored together with the end. If the storage takes no end, the job's
 * lease runs out, and another process ends the response.
 */
import type { PaidAnswer } from "../../charges/index.ts";
import { GatewayError, type JsonObject, limits, objectOf, parseObject } from "../../core/index.ts";
import { dataOf, EventSplitter, eventsOf, type Watched } from "../../streaming/index.ts";
import type { BackgroundCall } from "./background-call.ts";
import type { BackgroundDependencies } from "./dependencies.ts";
import { type ResponseEndDependencies, endResponse, failed } from "./end-response.ts";
import { EventBatches } from "./event-batches.ts";
import type { BackgroundResponse } from "./store.ts";

/** Bytes of events after which they are written before more are read. */
const BATCH_BYTES_MAX = 256 * 1024;

/** The interval at which the record is looked up: another process may have cancelled the response. */
const LOOK_MS = 1_000;

/** How long a storage that takes no end is asked again, and the pause before it is. */
const END_MS_MAX = 30_000;
const END_AGAIN_MS = 500;

const lastEvents: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed"]);

type RunDependencies = ResponseEndDependencies & Pick<BackgroundDependencies, "ticker" | "logger">;

/** The parts of a call that a run needs. */
type RunCall = Pick<BackgroundCall, "queued" | "answering" | "abort" | "leave"> & {
  running: Pick<BackgroundCall["running"], "id">;
};

interface Failure {
  code: string;
  message: string;
}

export class BackgroundRun implements Watched {
  slot = -1;
  readonly #deps: RunDependencies;
  readonly #call: RunCall;
  /** The response with its id, or the answer of a call that runs none. Rejects if the call fails before. */
  readonly opened: Promise<JsonObject | PaidAnswer>;
  readonly #opening = Promise.withResolvers<JsonObject | PaidAnswer>();
  readonly #kept = Promise.withResolvers<void>();
  readonly #events = new EventBatches();
  #record: BackgroundResponse | undefined;
  #reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "cancel"> | undefined;
  /** As it was seen last, and as its record has it. */
  #response: JsonObject | undefined;
  #stored: JsonObject | undefined;
  #failure: Failure | undefined;
  #isCancelled = false;
  /** Whether the last event has arrived. It is stored with the end. */
  #hasEnded = false;
  /** The number of the event that has arrived last. */
  #number = -1;
  #writing: Promise<void> | undefined;
  #lookedAt: number;

  constructor(deps: RunDependencies, call: RunCall) {
    this.#deps = deps;
    this.#call = call;
    this.#response = call.queued;
    this.#lookedAt = deps.ticker.now();
    this.opened = this.#opening.promise;
    // Nobody may wait for them.
    this.opened.catch(() => undefined);
    this.#kept.promise.catch(() => undefined);
  }

  /** The record is stored: events are kept from now on. */
  keep(record: BackgroundResponse): void {
    this.#record = record;
    this.#stored = record.response;
    this.#kept.resolve();
  }

  /** Ends the call, which charges its text so far. */
  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#call.leave();
    this.#reader?.cancel().catch(() => undefined);
    this.#kept.reject(new GatewayError("upstream_interrupted", "The response was cancelled."));
  }

  /** Runs to the end. Never rejects. */
  async run(): Promise<void> {
    const { ticker } = this.#deps;
    const late = new GatewayError("upstream_timeout", "The response took longer than an hour.");
    const cancelLimit = ticker.after(limits.backgroundMsMax, () => this.#call.abort.abort(late));
    ticker.watch(this);
    try {
      await this.#read();
    } catch (thrown) {
      this.#failure ??= failureOf(thrown);
      this.#opening.reject(thrown);
    }
    cancelLimit();
    ticker.leave(this);
    this.#opening.reject(new GatewayError("upstream_invalid_answer", "The upstream began no response."));
    // It may have ended before its record is stored.
    if (this.#response !== undefined) await this.#kept.promise.catch(() => undefined);
    if (this.#record !== undefined) await this.#end(this.#record);
  }

  async #read(): Promise<void> {
    const answer = await this.#call.answering;
    if (!(answer.body instanceof ReadableStream)) {
      this.#opening.resolve(answer);
      this.#failure = failureIn(answer.body);
      return;
    }
    const reader = answer.body.getReader();
    this.#reader = reader;
    const splitter = new EventSplitter(limits.wholeEventBytesMax);
    if (this.#isCancelled) await reader.cancel();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const event of eventsOf(splitter.push(value))) this.#see(event);
      if (this.#response === undefined) continue;
      this.#opening.resolve(this.#response);
      if (this.#record === undefined) await this.#kept.promise;
      if (this.#events.waitingBytes > BATCH_BYTES_MAX) await this.#write();
    }
  }

  #see(block: Buffer): void {
    const data = dataOf(block);
    const event = data === undefined ? undefined : parseObject(data);
    if (data === undefined || event === undefined) return;
    const { type, sequence_number: told } = event;
    if (type === "error") {
      this.#failure = failureOf(event);
      return;
    }
    this.#number = typeof told === "number" ? told : this.#number + 1;
    const own = objectOf(event["response"]);
    const response = own && { ...own, background: true };
    if (response !== undefined) this.#response = response;
    if (lastEvents.has(type)) this.#hasEnded = true;
    else if (response === undefined && told === this.#number && !data.includes("\n")) this.#events.add(told, data);
    else
      this.#events.add(
        this.#number,
        JSON.stringify({ ...event, ...(response && { response }), sequence_number: this.#number }),
      );
  }

  onTick(now: number): void {
    if (this.#record === undefined) return;
    if (!this.#events.isEmpty || this.#response !== this.#stored) void this.#write();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    void this.#look(this.#record);
  }

  /** Writes the events so far. A storage that fails is asked again at the next tick. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeNow()
      .catch((reason: unknown) => this.#warn(reason, "events of a response in the background could not be stored yet"))
      .finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  async #writeNow(): Promise<void> {
    const { background } = this.#deps;
    const record = this.#record;
    const response = this.#response;
    if (record === undefined || response === undefined) return;
    await this.#events.write(background, record);
    if (response === this.#stored || this.#hasEnded) return;
    if (!(await background.update(record, response))) this.cancel();
    this.#stored = response;
  }

  async #look(record: BackgroundResponse): Promise<void> {
    try {
      if ((await this.#deps.background.stateOf(record)) !== "running") this.cancel();
    } catch (reason) {
      this.#warn(reason, "a response in the background could not be looked up");
    }
  }

  async #end(record: BackgroundResponse): Promise<void> {
    const { ticker } = this.#deps;
    const giveUpAt = ticker.now() + END_MS_MAX;
    const response = this.#lastOf(record);
    const number = this.#hasEnded ? this.#number : this.#number + 1;
    await this.#writing;
    for (;;) {
      try {
        await this.#events.write(this.#deps.background, record);
        return await endResponse(this.#deps, record, { response, number });
      } catch (reason) {
        this.#warn(reason, "the end of a response in the background could not be stored yet");
        if (ticker.now() >= giveUpAt) return;
        await ticker.pause(END_AGAIN_MS);
      }
    }
  }

  #lastOf(record: BackgroundResponse): JsonObject {
    const response = this.#response ?? record.response;
    if (this.#hasEnded) return response;
    if (this.#isCancelled) return { ...response, status: "cancelled" };
    return failed(response, this.#failure ?? { code: "server_error", message: "The response ended early." });
  }

  #warn(reason: unknown, message: string): void {
    this.#deps.logger.warn({ request_id: this.#call.running.id, reason: String(reason) }, message);
  }
}

/** The failure of an answer that is no stream: an error of the gateway or of the upstream. */
function failureIn(body: PaidAnswer["body"]): Failure {
  const text = typeof body === "string" ? body : body instanceof Uint8Array ? Buffer.from(body).toString() : "";
  return failureOf(objectOf(parseObject(text)?.["error"]));
}

function failureOf(thrown: unknown): Failure {
  const { code, message } = objectOf(thrown) ?? {};
  return {
    code: typeof code === "string" ? code : "server_error",
    message: typeof message === "string" ? message : "The response failed.",
  };
}
