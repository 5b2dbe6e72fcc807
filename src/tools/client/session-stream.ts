/**
 * The stream of a client's own session at a server of 2025. Some servers ask there in the middle of a call, and name no call: the question
 * belongs to the client's only request under way. Among several, or after one whose answer was not waited for, it belongs to nobody.
 */
import { CallAborter, type JsonObject } from "../../core/index.ts";
import type { Ticker } from "../../streaming/index.ts";
import { isEventStream, readMessages, type ServerRequest } from "./read-messages.ts";
import { ServerQuestions } from "./server-questions.ts";
import { CONNECT_MS_MAX, NOTIFICATION_BYTES_MAX, type ServerWire } from "./server-wire.ts";
import type { ServerSession } from "./session.ts";

/** How long a session's first request waits for the stream to begin. */
const BEGIN_MS_MAX = 1_000;

/** One a minute. */
const LOOKS_WHILE_LISTENING = 10;

const STREAM_BYTES_MAX = 8 * 1024 * 1024;

/** All who listen to the server want these, and each session of a client subscribes to them. */
const SUBSCRIPTIONS_MAX = 100;

/** After the last request: an agent often makes the next one soon, and a server that stops waits for its streams. */
const KEPT_MS = 5_000;

/** Those who listen to the server. */
export interface ChangeListeners {
  /** The addresses of the resources whose updates they want. */
  uris: () => readonly string[];
  isEmpty: () => boolean;
  onNotification: (method: string, params: JsonObject) => void;
}

interface SessionStreamOptions {
  wire: ServerWire;
  ticker: Ticker;
  session: ServerSession;
  /** What a call changes, some servers tell its session alone. */
  listening: ChangeListeners;
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
  /** Looks that have found it unused. */
  #looks = 0;
  readonly #subscribed = new Set<string>();
  #isSubscribing = false;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
  }

  /** Whether a request has ended without its answer: what the server asks later may be about that one. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** Whether no request was made since the last look, and none is under way; or for longer, while somebody listens. */
  isIdle(): boolean {
    this.#looks = this.#isUsed || this.#underWay.size > 0 ? 0 : this.#looks + 1;
    this.#isUsed = false;
    return this.#looks >= (this.#options.listening.isEmpty() ? 1 : LOOKS_WHILE_LISTENING);
  }

  /** Subscribes to the resources that are wanted by now, as far as a session may have them, one after the other. */
  subscribe(): void {
    if (this.#isSubscribing) return;
    this.#isSubscribing = true;
    void this.#subscribeAll().finally(() => {
      this.#isSubscribing = false;
    });
  }

  async #subscribeAll(): Promise<void> {
    const { wire, session, listening } = this.#options;
    const bounds = { timeoutMs: CONNECT_MS_MAX, bytesMax: NOTIFICATION_BYTES_MAX };
    const next = (): string | undefined => listening.uris().find((uri) => !this.#subscribed.has(uri));
    for (let uri = next(); uri !== undefined && this.#subscribed.size < SUBSCRIPTIONS_MAX; uri = next()) {
      this.#subscribed.add(uri);
      const request = { ...bounds, method: "resources/subscribe", params: { uri } };
      // Without its own stream: it is no request of the client.
      try {
        await wire.send(request, { ...session, stream: undefined });
      } catch {
        // The server can't be reached: all that are left are tried again when the client asks for something.
        this.#subscribed.delete(uri);
        return;
      }
    }
  }

  /** Resolves when the server can ask there, has no such stream, or takes too long. */
  async begin(): Promise<void> {
    this.#isUsed = true;
    if (this.#isRefused) return;
    this.#stopTimer();
    this.#begun ??= this.#open().catch(() => undefined);
    this.subscribe();
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
      if (this.#underWay.size > 0) return;
      if (this.#options.listening.isEmpty()) this.end();
      else this.#endLater();
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
      onNotification: (method: string, params: JsonObject): void => {
        if (method === "notifications/cancelled") this.#only?.withdrawn(method, params);
        else this.#options.listening.onNotification(method, params);
      },
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
