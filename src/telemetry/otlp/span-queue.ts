/** Finished spans on their way to a collector, in memory that is bounded: while it is away, those that find no place are counted. */
import { everyUnref } from "../../core/index.ts";
import type { OtlpEndpoint } from "./endpoint.ts";
import { type OtlpResource, resourceJson } from "./values.ts";

/** Spans that may wait, in characters of JSON: some 5,000 calls. */
const WAITING_CHARACTERS_MAX = 8 * 1024 * 1024;

/** The size of one request. Collectors take 4 MiB and more. */
const REQUEST_CHARACTERS_MAX = 1024 * 1024;

/** The first and the longest delay before a request is repeated. */
const AGAIN_MS_MIN = 1_000;
const AGAIN_MS_MAX = 60_000;

/** How long a process that ends waits for its last spans. */
const LAST_MS_MAX = 2_000;

interface Spans {
  json: string;
  count: number;
}

interface SpanQueueOptions {
  endpoint: Pick<OtlpEndpoint, "post">;
  resource: OtlpResource;
  /** How long a span waits at most before it is sent. */
  everyMs: number;
  /** Called before each request: adds the spans that wait for something. */
  onSend?: () => void;
  /** Of a monotonic clock, in milliseconds. */
  now?: () => number;
}

export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #beginning: string;
  #waiting: Spans[] = [];
  #characters = 0;
  #sending: Promise<void> | undefined;
  #againMs = AGAIN_MS_MIN;
  #notBefore = 0;
  readonly #stop: () => void;
  /** Spans that the collector took, and those that found no place or were refused. */
  sent = 0;
  dropped = 0;

  constructor(options: SpanQueueOptions) {
    const { version } = options.resource;
    const scope = JSON.stringify({ name: "tollgate", version });
    this.#options = options;
    this.#beginning = `{"resourceSpans":[{"resource":${resourceJson(options.resource)},"scopeSpans":[{"scope":${scope},"spans":[`;
    this.#stop = everyUnref(options.everyMs, () => void this.send());
  }

  /** Adds spans, as members of a list in JSON. */
  add(spans: Spans): void {
    if (this.#characters + spans.json.length > WAITING_CHARACTERS_MAX) {
      this.dropped += spans.count;
      return;
    }
    this.#waiting.push(spans);
    this.#characters += spans.json.length;
    if (this.#characters > REQUEST_CHARACTERS_MAX && this.#sending === undefined) void this.send();
  }

  /** Sends all that waits, unless the collector is to be left alone for now. Never rejects. */
  send(): Promise<void> {
    // It is noted before it begins: the spans that `onSend` adds may ask for it again.
    this.#sending ??= Promise.resolve()
      .then(() => this.#sendAll())
      .finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  /** Sends the last spans, for a bounded time. The rest is lost. */
  async close(): Promise<void> {
    this.#stop();
    this.#notBefore = 0;
    await Promise.race([this.send(), Bun.sleep(LAST_MS_MAX)]);
  }

  async #sendAll(): Promise<void> {
    const { endpoint, onSend, now = () => performance.now() } = this.#options;
    onSend?.();
    while (this.#waiting.length > 0 && now() >= this.#notBefore) {
      const batch = this.#batch();
      const count = batch.reduce((sum, spans) => sum + spans.count, 0);
      const answer = await endpoint.post(`${this.#beginning}${batch.map(({ json }) => json).join(",")}]}]}]}`);
      if (answer.kind === "again") {
        this.#notBefore = now() + Math.max(this.#againMs, Math.min(answer.afterMs, AGAIN_MS_MAX));
        this.#againMs = Math.min(2 * this.#againMs, AGAIN_MS_MAX);
        return;
      }
      const rejected = answer.kind === "taken" ? Math.min(answer.rejected, count) : count;
      this.sent += count - rejected;
      this.dropped += rejected;
      this.#againMs = AGAIN_MS_MIN;
      this.#waiting.splice(0, batch.length);
      this.#characters -= batch.reduce((sum, { json }) => sum + json.length, 0);
    }
  }

  /** The first spans that fit into one request. */
  #batch(): Spans[] {
    let characters = 0;
    const end = this.#waiting.findIndex(
      ({ json }, at) => (characters += json.length) > REQUEST_CHARACTERS_MAX && at > 0,
    );
    return end === -1 ? [...this.#waiting] : this.#waiting.slice(0, end);
  }
}
