/**
 * The stream of a client's own session at a server of 2025. Some servers ask there in the middle of a call, and name no call: the question
 * belongs to the client's only request under way. Among several, or after one whose answer was not waited for, it belongs to nobody.
 */
import { CallAborter, type JsonObject } from "../../core/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import { isEventStream, readMessages, type ServerRequest } from "./read-messages.ts";
import { ServerQuestions } from "./server-questions.ts";
import { NOTIFICATION_BYTES_MAX, type ServerWire } from "./server-wire.ts";
import type { ServerSession } from "./session.ts";

/** How long a session's first request waits for the stream to begin. */
const BEGIN_MS_MAX = 1_000;

const STREAM_BYTES_MAX = 8 * 1024 * 1024;

/** After the last request: an agent often makes the next one soon, and a server that stops waits for its streams. */
const KEPT_MS = 5_000;

interface SessionStreamOptions {
  wire: ServerWire;
  ticker: Ticker;
  session: ServerSession;
}

export class SessionStream {
  readonly #options: SessionStreamOptions;
  readonly #underWay = new Set<ServerQuestions>();
  /** Resolves once the server has begun the stream, or has not; undefined while there is none. */
  #begun: Promise<void> | undefined;
  #abort: CallAborter | undefined;
  #stopTimer: () => void = () => undefined;
  #isRefused = false;
  #isSlow = false;
  #isDoubtful = false;
  #isUsed = true;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
  }

  /** Whether a request has ended without its answer: what the server asks later may be about that one. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** Whether no request was made since the last look, and none is under way. */
  isIdle(): boolean {
    const isIdle = !this.#isUsed && this.#underWay.size === 0;
    this.#isUsed = false;
    return isIdle;
  }

  /** Resolves when the server can ask there, has no such stream, or takes too long. */
  async begin(): Promise<void> {
    this.#isUsed = true;
    if (this.#isRefused) return;
    this.#stopTimer();
    this.#begun ??= this.#open().catch(() => undefined);
    if (this.#isSlow) return;
    const { promise, resolve } = Promise.withResolvers<"late">();
    const stopTimer = this.#options.ticker.after(BEGIN_MS_MAX, () => resolve("late"));
    this.#isSlow = (await Promise.race([this.#begun, promise])) === "late";
    stopTimer();
  }

  /** A request begins. Returns a function for its end. */
  enter(questions: ServerQuestions): (isAnswered: boolean) => void {
    this.#underWay.add(questions);
    return (isAnswered) => {
      this.#isUsed = true;
      this.#underWay.delete(questions);
      if (!isAnswered) this.#isDoubtful = true;
      this.#endLater();
    };
  }

  end(): void {
    this.#stopTimer();
    this.#abort?.abort("nobody can be asked");
    this.#begun = undefined;
  }

  #endLater(): void {
    this.#stopTimer();
    this.#stopTimer = this.#options.ticker.after(KEPT_MS, () => {
      if (this.#underWay.size === 0) this.end();
    });
  }

  async #open(): Promise<void> {
    const { wire, ticker, session } = this.#options;
    const abort = new CallAborter();
    this.#abort = abort;
    const reply = await wire.open(session, abort);
    if (!isEventStream(reply)) {
      reply.body.cancel();
      this.#isRefused = true;
      return;
    }
    const answer = (message: JsonObject): void => void wire.tell(message, session).catch(() => undefined);
    const nobody = new ServerQuestions({ ask: undefined, answer, clock: () => ticker.now() });
    const reading = {
      id: undefined,
      bytesMax: STREAM_BYTES_MAX,
      messageBytesMax: NOTIFICATION_BYTES_MAX,
      onRequest: (request: ServerRequest): void => (this.#only ?? nobody).onRequest(request),
      onNotification: (method: string, params: JsonObject): void => void this.#only?.withdrawn(method, params),
    };
    const isOver = (): void => {
      if (this.#abort === abort) this.#begun = undefined;
    };
    void readMessages(reply, reading).then(isOver, isOver);
  }

  get #only(): ServerQuestions | undefined {
    const [only, ...others] = this.#underWay;
    return others.length > 0 || this.#isDoubtful ? undefined : only;
  }
}
