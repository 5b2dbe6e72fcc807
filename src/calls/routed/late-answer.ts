/**
 * The answer of a streamed call whose targets take long: its head goes after a while, then comment lines, so that neither
 * the client nor anything between gives up. The call can still move on; only the failure of all is an event then.
 *
 *   waiting ──an answer──▶ passing it on
 *      ├──an error──▶ its event, as the last one
 *      └──the client leaves──▶ the call ends, unless it has a retry key
 */
import type { PaidAnswer, RunningWork } from "../../charges/index.ts";
import { GatewayError, toGatewayError } from "../../core/index.ts";
import { type DialectTranslation, type Failure, failureOf } from "../../dialects/index.ts";
import { EVENT_HEADERS, type Ticker, type Watched } from "../../streaming/index.ts";
import { StreamClient } from "../relay/stream-client.ts";

export interface LateAnswerOptions {
  /** After how long the head goes, in milliseconds. */
  headMsMax: number;
  running: RunningWork;
  /** The client's dialect. */
  translation: Pick<DialectTranslation, "readFailure" | "writeFailureEvent">;
}

/** The answer itself if it comes in time, else a stream to which it is passed on. Rejects like `answering`, in time. */
export async function answerInTime(answering: Promise<PaidAnswer>, options: LateAnswerOptions): Promise<PaidAnswer> {
  const { running, headMsMax } = options;
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const cancel = running.watchdog.ticker.after(headMsMax, () => resolve(undefined));
  try {
    return (await Promise.race([answering, late])) ?? lateAnswer(answering, options);
  } finally {
    cancel();
  }
}

function lateAnswer(answering: Promise<PaidAnswer>, options: LateAnswerOptions): PaidAnswer {
  let late: LateAnswer;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        late = new LateAnswer(answering, new StreamClient(controller), options);
      },
      pull: () => late.pull(),
      cancel: () => late.cancel(),
    },
    { highWaterMark: 0, size: (bytes) => bytes?.byteLength ?? 0 },
  );
  const { rateHeaders } = options.running.work;
  return { status: 200, headers: { ...EVENT_HEADERS, ...rateHeaders }, body };
}

interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

class LateAnswer implements Watched {
  slot = -1;
  readonly #client: StreamClient;
  readonly #options: LateAnswerOptions;
  readonly #ticker: Ticker;
  /** The stream to pass on; undefined if the answer is none, which has been sent then. */
  readonly #opened: Promise<BodyReader | undefined>;

  constructor(answering: Promise<PaidAnswer>, client: StreamClient, options: LateAnswerOptions) {
    this.#client = client;
    this.#options = options;
    this.#ticker = options.running.watchdog.ticker;
    client.comment(this.#ticker.now());
    this.#ticker.watch(this);
    this.#opened = answering.then(
      (answer) => this.#open(answer),
      (thrown: unknown) => this.#fail(thrown),
    );
  }

  async pull(): Promise<void> {
    const reader = await this.#opened;
    if (reader === undefined) return;
    try {
      const { done, value } = await reader.read();
      if (done) this.#client.close(NOTHING);
      else if (value !== undefined) this.#client.send(value);
    } catch (thrown) {
      this.#client.breakOff(thrown);
    }
  }

  async cancel(): Promise<void> {
    this.#client.leave();
    this.#ticker.leave(this);
    const { work, watchdog } = this.#options.running;
    if (work.order.retry === undefined)
      watchdog.abort.abort(new GatewayError("upstream_interrupted", "The client went away."));
    await (await this.#opened)?.cancel();
  }

  onTick(now: number): void {
    this.#client.keepAlive(now, 0);
  }

  #open({ status, body }: PaidAnswer): BodyReader | undefined {
    this.#ticker.leave(this);
    if (body instanceof ReadableStream) return body.getReader();
    const text = typeof body === "string" ? body : Buffer.from(body).toString("utf8");
    if (status < 400) this.#client.close(Buffer.from(text));
    else this.#end(this.#options.translation.readFailure(status, text));
    return undefined;
  }

  /** The shell has returned already, so that the work is ended here. */
  async #fail(thrown: unknown): Promise<undefined> {
    this.#ticker.leave(this);
    // The client gets the error of the call, also if its end is not durable.
    await this.#options.running.fail(thrown).catch(() => undefined);
    this.#end(failureOf(toGatewayError(thrown)));
  }

  #end(failure: Failure): void {
    const { translation, running } = this.#options;
    this.#client.close(Buffer.from(translation.writeFailureEvent(failure, running.id)));
  }
}

const NOTHING = Buffer.alloc(0);
