import { SessionLimit } from "../../auth/index.ts";
import { account, WorkScene } from "../../charges/__fixtures__/work-scene.ts";
import { parseObject, type Sending, type Socket, type SocketHandler, type SocketSink } from "../../core/index.ts";
import { PriceBook } from "../../pricing/index.ts";
import { createProvider } from "../../providers/index.ts";
import { BusyTargets, KeyPool, ModelRouter } from "../../routing/index.ts";
import { RealtimeSessions } from "../realtime-sessions.ts";

/** Nano-credits for a token of text that a response reads, and for one of output. */
export const inputNano = 4_000n;
export const outputNano = 64_000n;

/** Bytes of text that count as one token. */
const BYTES_PER_TOKEN = 4;

const prices = {
  "openai/whisper": { input_audio_hours: 0.36 },
  "openai/*": { input_mtok: 4, input_audio_mtok: 32, output_mtok: 64, output_audio_mtok: 64, context_window: 32_000, max_output_tokens: 1_000 },
};

type Message = string | Uint8Array;

/** An upstream's socket that stops sending when it is paused, as a real one does. */
class FakeUpstream {
  readonly received: Record<string, unknown>[] = [];
  /** The same, as they were sent. */
  readonly texts: string[] = [];
  readonly queuedBytes = 0;
  isPaused = false;
  closed: number | "terminated" | undefined;
  pings = 0;
  readonly #unsent: Message[] = [];
  #sink: SocketSink | undefined;

  flowTo(sink: SocketSink): void {
    this.#sink = sink;
  }

  /** Sends a message to the gateway, now or when it reads again. */
  emit(event: object): void {
    if (this.isPaused) this.#unsent.push(JSON.stringify(event));
    else this.#sink?.onMessage(JSON.stringify(event));
  }

  /** A message that was on its way when the socket was paused. */
  emitAnyway(event: object): void {
    this.#sink?.onMessage(JSON.stringify(event));
  }

  hangUp(code: number): void {
    this.closed = code;
    this.#sink?.onClose(code, "");
  }

  send(message: Message): void {
    this.texts.push(String(message));
    this.received.push(parseObject(String(message)) ?? {});
  }

  ping(): void {
    this.pings += 1;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    while (!this.isPaused) {
      const next = this.#unsent.shift();
      if (next === undefined) return;
      this.#sink?.onMessage(next);
    }
  }

  close(code: number): void {
    this.closed ??= code;
  }

  terminate(): void {
    this.closed ??= "terminated";
    this.#sink?.onClose(1006, "");
  }
}

/** A client's socket that can stop reading. */
class FakeClient implements Socket {
  readonly events: Record<string, unknown>[] = [];
  isStalled = false;
  isPaused = false;
  closed: number | "terminated" | undefined;

  send(message: Message): Sending {
    if (this.closed !== undefined) return "lost";
    this.events.push(parseObject(String(message)) ?? {});
    return this.isStalled ? "waiting" : "sent";
  }

  cork(run: () => void): void {
    run();
  }

  ping(): void {
    // Clients answer in time.
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(code: number): void {
    this.closed ??= code;
  }

  terminate(): void {
    this.closed ??= "terminated";
  }

  ofType(type: string): Record<string, unknown>[] {
    return this.events.filter((event) => event["type"] === type);
  }

  /** The tokens of output that have arrived. */
  get tokens(): number {
    return this.ofType("response.output_text.delta").reduce(
      (sum, { delta }) => sum + String(delta).length / BYTES_PER_TOKEN,
      0,
    );
  }
}

export const principal = {
  tokenId: "t",
  user: "u",
  accountId: account.id,
  service: false,
  role: "member" as const,
  models: undefined,
  rates: undefined,
  expiresAt: undefined,
};

const unreachable = (): Promise<never> => Promise.reject(new Error("no network"));

/** A session on a real ledger, between two sockets that the test controls. */
export class SessionScene {
  readonly work: WorkScene;
  readonly upstream = new FakeUpstream();
  readonly client = new FakeClient();
  ended = 0;
  #handler: SocketHandler | undefined;
  #sessions: RealtimeSessions | undefined;

  private constructor(work: WorkScene) {
    this.work = work;
  }

  /** A session of a user with so many nano-credits. */
  static async start(nano: bigint): Promise<SessionScene> {
    const work = await WorkScene.start();
    await work.ledger.submit({ kind: "grant", id: "more", accountId: account.id, amount: nano, at: work.now });
    const scene = new SessionScene(work);
    await scene.#open();
    return scene;
  }

  get sessions(): RealtimeSessions {
    if (this.#sessions === undefined) throw new Error("the session is not open");
    return this.#sessions;
  }

  get handler(): SocketHandler {
    if (this.#handler === undefined) throw new Error("the session is not open");
    return this.#handler;
  }

  async #open(): Promise<void> {
    const { deps, ticker } = this.work;
    const { clock } = deps;
    const route = {
      prefix: "openai",
      aliases: [],
      provider: createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" }),
      baseUrl: "https://upstream.example/v1",
      keys: new KeyPool(["sk-simulated"], clock),
      sandbox: false,
      sharedStores: false,
      listing: { listed: [] },
      requiredVariable: undefined,
    };
    const limit = new SessionLimit(10);
    const enter = limit.enter.bind(limit);
    limit.enter = (token) => {
      const leave = enter(token);
      return () => {
        this.ended += 1;
        leave();
      };
    };
    this.#sessions = new RealtimeSessions({
      environment: {
        clock,
        randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
        randomFraction: () => 0.5,
        fetch: unreachable,
        ask: unreachable,
        openSocket: () => Promise.resolve(this.upstream),
      },
      work: deps,
      send: { retries: 0, retryAfterMsMax: 0, connectMsMax: 1_000, firstByteMsMax: 1_000, idleMsMax: 1_000, totalMsMax: 1_000 },
      observer: {},
      ticker,
      router: new ModelRouter([route], new PriceBook({ operatorPrices: prices, unpriced: "refuse", clock: () => 0 })),
      circuits: undefined,
      busy: new BusyTargets(),
      routeLimits: { attempts: 4, deadlineMs: 1_000, attemptMsMax: 1_000, wholeMsMax: 1_000, headMsMax: 1_000, commit: undefined },
      clientSecrets: { insert: async () => undefined, find: async () => undefined, deleteExpired: async () => undefined },
      limit,
      openSessions: { enter: () => () => undefined },
      bounds: { sessionMsMax: 3_600_000, idleMsMax: 600_000, stalledMsMax: 60_000, messagesPerSecondMax: 1_000, connectMsMax: 1_000 },
    });
    const opened = await this.sessions.open({
      requestId: "sess",
      request: new Request("https://gateway.example/v1/realtime?model=openai/m"),
      caller: { principal, grant: undefined, protocol: undefined, recheck: async () => principal },
    });
    if (opened instanceof Response) throw new Error(`the handshake was refused with ${opened.status}`);
    this.#handler = opened.socket;
    await opened.socket.open(this.client);
    this.upstream.emit({ type: "session.created", session: {} });
    await this.settle();
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  /** Waits for what is under way without the passing of time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) {
      await this.work.ledger.flush();
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second += 1) {
      await this.work.tick(1_000);
      await this.settle();
    }
  }

  begin(response: string): void {
    this.upstream.emit({ type: "response.created", response: { id: response } });
  }

  /** Emits this many parts of a response, each of so many tokens. */
  speak(response: string, parts: number, tokens = 64): void {
    for (let part = 0; part < parts; part += 1) this.upstream.emit(deltaOf(response, tokens));
  }

  /** The response has ended, with one token that it has read, and so many of output. */
  done(response: string, tokens: number): void {
    const usage = { input_tokens: 1, output_tokens: tokens, input_token_details: { text_tokens: 1 } };
    this.upstream.emit({ type: "response.done", response: { id: response, status: "completed", usage } });
  }

  /** The largest hold that is open: that of the response that runs. */
  async held(): Promise<bigint> {
    const amounts = (await this.work.store.openHolds()).map(({ amount }) => amount);
    return amounts.reduce((most, amount) => (amount > most ? amount : most), 0n);
  }
}

export function deltaOf(response: string, tokens: number): object {
  return { type: "response.output_text.delta", response_id: response, delta: "x".repeat(tokens * BYTES_PER_TOKEN) };
}
