import { jest } from "bun:test";
import { type BodySink, type GatewayError, limits, type ReplyBody } from "../../core/index.ts";
import { chatCodec, chatRequest } from "../../dialects/index.ts";
import { createProvider } from "../../providers/index.ts";
import { type StreamObserver, Ticker } from "../../streaming/index.ts";
import { relayStream, type StreamEnd, type StreamRelayOptions } from "../relay/relay-stream.ts";
import { StoredBody } from "../../charges/index.ts";

export const idleMsMax = 300_000;
export const tickMs = 1_000;
export const key = "sk-key-of-the-upstream";

export const chunk = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
export const finish = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`;
export const usage = `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":11,"total_tokens":18}}\n\n`;
export const done = "data: [DONE]\n\n";
export const upstreamError = (message: string): string =>
  `data: ${JSON.stringify({ error: { message, type: "server_error" } })}\n\n`;
export const whole = chunk("é") + chunk("🙂") + finish + done;

/** Runs everything that does not wait for a timer. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** The clock and the ticker of the streams, advanced by the test. */
class Time {
  now = 1_000_000;
  readonly ticker = new Ticker(tickMs, () => this.now);

  async tick(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    jest.advanceTimersByTime(tickMs);
    await turns();
  }
}

let time: Time;

/** Call it before each test. */
export function startTime(): void {
  jest.useFakeTimers();
  time = new Time();
}

/** Call it after each test. */
export function stopTime(): void {
  time.ticker.stop();
  jest.useRealTimers();
}

export const tick = (milliseconds: number): Promise<void> => time.tick(milliseconds);

function observe(includeUsage: boolean): StreamObserver {
  const { chat } = createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" }).operations;
  if (chat === undefined) throw new Error("no chat");
  const body = {
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    stream_options: { include_usage: includeUsage },
  };
  return chatCodec.observe(chatRequest.parse(body), (answer) => chat.readUsage(answer));
}

/** The observer of an answer of bytes. */
function countBytes(): StreamObserver {
  let outputBytes = 0;
  return {
    see(block) {
      outputBytes += block.length;
      return block;
    },
    get outputBytes() {
      return outputBytes;
    },
    usage: undefined,
    done: false,
    complete: true,
    failed: false,
  };
}

/** A body whose pieces the test sends; like a connection's, it delivers nothing while it is paused. */
export class ScriptedBody implements ReplyBody {
  cancelled = false;
  paused = true;
  #sink: BodySink | undefined;
  #waiting: ((sink: BodySink) => void)[] = [];

  flowTo(sink: BodySink): void {
    this.#sink = sink;
    this.resume();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#deliver();
  }

  cancel(): void {
    this.cancelled = true;
    this.#waiting = [];
  }

  send(bytes: Buffer): void {
    this.#tell((sink) => sink.onBytes(bytes));
  }

  end(): void {
    this.#tell((sink) => sink.onEnd());
  }

  fail(cause: unknown): void {
    this.#tell((sink) => sink.onFailure(cause));
  }

  #tell(what: (sink: BodySink) => void): void {
    if (this.cancelled) return;
    this.#waiting.push(what);
    this.#deliver();
  }

  #deliver(): void {
    while (this.#sink !== undefined && !this.paused) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      next(this.#sink);
    }
  }
}

interface SceneOptions {
  reads?: boolean;
  includeUsage?: boolean;
  kept?: boolean;
  gone?: boolean;
  bytes?: boolean;
  /** Replaces the observer of chat, or of bytes. */
  observer?: StreamObserver;
  follow?: StreamRelayOptions["follow"];
}

/** An upstream whose bytes the test sends, relayed to a client that reads or not. */
export class StreamScene {
  readonly abort = new AbortController();
  readonly ends: [StreamEnd, GatewayError | undefined][] = [];
  readonly observer: StreamObserver;
  firstBytes = 0;
  /** The bytes received by the client so far. */
  text = "";
  closed = false;
  /** The reason why the client's connection broke off. */
  broken: unknown;
  /** If set, delays the commit of the charge. */
  commit: Promise<void> | undefined;
  /** The store for the stream's answer. */
  readonly kept: StoredBody | undefined;
  /** Aborted by a client that disconnects before it is answered. */
  readonly leaving = new AbortController();
  readonly #client: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>; cancel(): Promise<void> };
  readonly #upstream = new ScriptedBody();
  readonly #bytes: boolean;
  readonly #follow: StreamRelayOptions["follow"];

  constructor(options: SceneOptions = {}) {
    const { reads = true, includeUsage = false, kept = false, gone = false, bytes = false, observer, follow } = options;
    this.#bytes = bytes;
    this.#follow = follow;
    this.observer = observer ?? (bytes ? countBytes() : observe(includeUsage));
    this.kept = kept ? new StoredBody() : undefined;
    if (gone) this.leaving.abort();
    // A body breaks off with the reason when its call is ended.
    this.abort.signal.addEventListener("abort", () => this.#upstream.fail(this.abort.signal.reason));
    this.#client = relayStream(this.#upstream, this.#options()).getReader();
    if (reads) void this.#readOn();
  }

  #options(): StreamRelayOptions {
    return {
      observer: this.observer,
      abort: this.abort,
      ticker: time.ticker,
      idleMsMax,
      client: { signal: this.leaving.signal },
      recorder: this.kept,
      firstAllowance: 0,
      follow: this.#follow,
      events: this.#bytes
        ? undefined
        : { bytesMax: limits.eventBytesMax, errorEvent: (error) => chatCodec.errorEvent(error, "req_1") },
      redact: (text) => text.replaceAll(key, "[redacted]"),
      onFirstByte: () => {
        this.firstBytes += 1;
      },
      onEnd: async (end, error) => {
        this.ends.push([end, error]);
        await this.commit;
      },
    };
  }

  async #readOn(): Promise<void> {
    try {
      while (await this.read());
    } catch (reason) {
      this.broken = reason;
    }
  }

  /** One read by the client; returns whether it received anything. */
  async read(): Promise<boolean> {
    const { done: ended, value } = await this.#client.read();
    if (value !== undefined) this.text += Buffer.from(value).toString("latin1");
    this.closed ||= ended;
    return !ended;
  }

  async send(...pieces: (string | Uint8Array)[]): Promise<void> {
    for (const piece of pieces) this.#upstream.send(Buffer.from(piece));
    await turns();
  }

  async end(): Promise<void> {
    this.#upstream.end();
    await turns();
  }

  async fail(reason: Error): Promise<void> {
    this.#upstream.fail(reason);
    await turns();
  }

  get upstreamCancelled(): boolean {
    return this.#upstream.cancelled;
  }

  /** Whether the upstream is paused. */
  get upstreamPaused(): boolean {
    return this.#upstream.paused;
  }

  async leave(): Promise<void> {
    await this.#client.cancel();
    await turns();
  }

  /** The received bytes as text. */
  get got(): string {
    return Buffer.from(this.text, "latin1").toString("utf8");
  }

  /** The error that the client's SDK reads from the last event. */
  get errorEvent(): { message: string; code: string } | undefined {
    const last = this.got.split("\n\n").findLast((event) => event !== "");
    const [, json] = /^data: (\{"error".*)$/s.exec(last ?? "") ?? [];
    return json === undefined ? undefined : (JSON.parse(json) as { error: { message: string; code: string } }).error;
  }

  get outcomes(): StreamEnd[] {
    return this.ends.map(([end]) => end);
  }
}

