/** A gateway in front of the simulated realtime upstreams, a caller for each test, and sockets that speak the events. */
import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { type RecordedSocket, type Simulators, startSimulators } from "../../simulators/index.ts";
import {
  type Engine,
  type Gateway,
  type PostgresServer,
  query,
  simulatedProviders,
  startGateway,
  startPostgres,
  until,
} from "../kit/index.ts";

/** Sums that are easy to work out by hand, in credits per token once divided by a million. */
const prices = {
  "openai/gpt-realtime": {
    input_mtok: 4,
    cache_read_mtok: 1,
    input_audio_mtok: 32,
    cache_audio_read_mtok: 2,
    output_mtok: 16,
    output_audio_mtok: 64,
    input_image_mtok: 5,
    context_window: 32_000,
    max_output_tokens: 4_096,
  },
  "openai/gpt-4o-transcribe": { input_mtok: 2.5, input_audio_mtok: 6, output_mtok: 10 },
  "openai/whisper-1": { input_audio_hours: 0.36 },
  // 0.001 credits a second.
  "xai/grok-voice-latest": { connection_hours: 3.6 },
  "xai/missing-grok": { connection_hours: 3.6 },
  "*/*": { input_mtok: 1, output_mtok: 2 },
};

export const model = "openai/gpt-realtime";

export type Event = Record<string, unknown> & { type: string };

export const nano = (credits: number): bigint => BigInt(Math.round(credits * 1e9));

interface ConnectOptions {
  token?: string;
  query?: string;
  protocols?: string[];
  headers?: Record<string, string>;
}

/** A client's socket. */
export class Client {
  readonly socket: WebSocket;
  readonly events: Event[] = [];
  readonly messages: (string | Uint8Array)[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly opened: Promise<void>;
  #onEvent: (() => void) | undefined;

  constructor(url: string, { protocols, headers }: Pick<ConnectOptions, "protocols" | "headers">) {
    this.socket = new WebSocket(url, { ...(protocols && { protocols }), headers: headers ?? {} });
    this.socket.binaryType = "nodebuffer";
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    promise.catch(() => undefined);
    this.socket.addEventListener("open", () => resolve());
    this.socket.addEventListener("error", (event) => reject(new Error("message" in event ? event.message : "failed")));
    this.socket.addEventListener("message", ({ data }: MessageEvent<string | Uint8Array>) => {
      this.messages.push(data);
      if (typeof data === "string") this.events.push(JSON.parse(data) as Event);
      this.#onEvent?.();
    });
    this.socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
      this.#onEvent?.();
    });
  }

  send(event: object | string): void {
    this.socket.send(typeof event === "string" ? event : JSON.stringify(event));
  }

  /** The first event that satisfies the condition, of those from the `from`-th on. */
  async find(what: string, matches: (event: Event) => boolean, from = 0): Promise<Event> {
    const deadline = performance.now() + 5_000;
    for (;;) {
      const found = this.events.slice(from).find(matches);
      if (found !== undefined) return found;
      if (this.closed !== undefined) throw new Error(`closed with ${JSON.stringify(this.closed)} before: ${what}`);
      if (performance.now() > deadline) {
        throw new Error(`no ${what} among ${this.events.map(({ type }) => type).join(", ")}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 100);
        this.#onEvent = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async next(type: string): Promise<Event> {
    const from = this.events.length;
    return this.find(type, (event) => event.type === type, from);
  }

  /** The event of this type, whether it has come or will. */
  event(type: string): Promise<Event> {
    return this.find(type, (event) => event.type === type);
  }

  async ended(): Promise<{ code: number; reason: string }> {
    return until("the socket is closed", () => this.closed, 8_000);
  }

  say(text: string): void {
    this.send({ type: "conversation.item.create", item: userText(text) });
  }

  /** Sends a text, asks for a response and awaits its end. */
  async ask(text: string, response: object = { output_modalities: ["text"] }): Promise<Event> {
    this.say(text);
    const done = this.next("response.done");
    this.send({ type: "response.create", response });
    return done;
  }
}

export function userText(text: string): object {
  return { type: "message", role: "user", content: [{ type: "input_text", text }] };
}

interface Usage {
  input_tokens: number;
  output_tokens: number;
  input_token_details: Record<string, number> & { cached_tokens_details: Record<string, number> };
  output_token_details: Record<string, number>;
}

export function usageOf(done: Event): Usage {
  return (done["response"] as { usage: Usage }).usage;
}

/** The charge for a response under `prices`, worked out from the usage that its client sees, in nano-credits. */
export function costOf({ input_token_details: given, output_token_details: made }: Usage): bigint {
  const cached = given.cached_tokens_details;
  const n = (count: number | undefined): number => count ?? 0;
  return BigInt(
    (n(given["text_tokens"]) - n(cached["text_tokens"])) * 4_000 +
      n(cached["text_tokens"]) * 1_000 +
      (n(given["audio_tokens"]) - n(cached["audio_tokens"])) * 32_000 +
      n(cached["audio_tokens"]) * 2_000 +
      n(made["text_tokens"]) * 16_000 +
      n(made["audio_tokens"]) * 64_000,
  );
}

interface SceneOptions {
  realtime?: Record<string, unknown>;
}

/** Starts it for the tests of a `describe`. */
export function realtimeScene(engine: Engine, { realtime = {} }: SceneOptions = {}) {
  let postgres: PostgresServer | undefined;
  let simulators: Simulators;
  let gateway: Gateway;
  let users = 0;
  let user: string;
  let token: string;
  let clients: Client[] = [];
  /** What upstreams have delivered beyond their callers' credits, in the tests that expect it. */
  let acceptedShortfall = 0n;

  const optionsOf = (storage: string | undefined) => ({
    providers: simulatedProviders(simulators),
    config: { pricing: { models: prices }, upstream: { retries: 1 }, realtime },
    ...(storage === undefined ? {} : { storage }),
  });

  beforeAll(async () => {
    simulators = await startSimulators();
    if (engine === "Postgres") postgres = await startPostgres();
    gateway = await startGateway(optionsOf(await postgres?.createDatabase()));
  });
  afterAll(async () => {
    await gateway.stop();
    await simulators.stop();
    await postgres?.stop();
  });
  beforeEach(async () => {
    simulators.clear();
    users += 1;
    user = `u${users}`;
    token = await gateway.token({ user, credits: nano(10) });
  });
  afterEach(async () => {
    for (const { socket } of clients) socket.terminate();
    clients = [];
    await until(
      "nothing is held",
      async () => (await openLedgerStore(gateway.storage).openHolds()).length === 0,
      10_000,
    );
    const { drifts, shortfall } = await openLedgerStore(gateway.storage).audit();
    if (drifts.length > 0 || shortfall !== acceptedShortfall)
      throw new Error(`the books drift: ${drifts.length} accounts, a shortfall of ${shortfall}`);
  });

  /** Opens a socket, without waiting for it. */
  const connect = ({
    token: own,
    query: asked = `model=${model}`,
    protocols,
    headers,
  }: ConnectOptions = {}): Client => {
    const sent = protocols === undefined ? { authorization: `Bearer ${own ?? token}` } : {};
    const url = `${gateway.url.replace("http", "ws")}/v1/realtime?${asked}`;
    const client = new Client(url, { ...(protocols && { protocols }), headers: { ...sent, ...headers } });
    clients.push(client);
    return client;
  };

  return {
    connect,
    /** Opens a session and awaits its beginning. */
    async open(options: ConnectOptions = {}): Promise<Client> {
      const client = connect(options);
      await client.opened;
      await client.event("session.created");
      return client;
    },
    /** The answer to a handshake that is refused. */
    async refusal(options: { token?: string; query?: string; headers?: Record<string, string> } = {}) {
      const { token: own = token, query: asked = `model=${model}`, headers } = options;
      const response = await fetch(`${gateway.url}/v1/realtime?${asked}`, {
        headers: {
          authorization: `Bearer ${own}`,
          upgrade: "websocket",
          connection: "upgrade",
          "sec-websocket-version": "13",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
          ...headers,
        },
      });
      const body = (await response.json()) as { error: { code: string; param: string | null; message: string } };
      return { status: response.status, ...body.error };
    },
    post: (path: string, body: unknown, as = token): Promise<Response> =>
      fetch(gateway.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    get: (path: string, as = token): Promise<Response> =>
      fetch(gateway.url + path, { headers: { authorization: `Bearer ${as}` } }),
    /** A new caller with this many credits. */
    async caller(credits: number, more: { rpm?: number; models?: string[] } = {}) {
      users += 1;
      const name = `u${users}`;
      return { user: name, token: await gateway.token({ user: name, credits: nano(credits), ...more }) };
    },
    async books(of = user) {
      const [account] = await openLedgerStore(gateway.storage).chain(`user:${of}`, Date.now());
      return { spent: account?.debitsPosted ?? 0n, held: account?.debitsPending ?? 0n };
    },
    /** The costs that the last renewals of the open holds have recorded. */
    async holdsObserved(): Promise<bigint[]> {
      const rows = await query<{ observed: bigint | null }>(gateway.storage, "SELECT observed FROM holds");
      return [...rows].map(({ observed }) => BigInt(observed ?? 0));
    },
    /** Waits until the user has no holds, and returns the spending. */
    async spent(of = user): Promise<bigint> {
      await until("nothing is held", async () => (await this.books(of)).held === 0n, 8_000);
      return (await this.books(of)).spent;
    },
    /** For a response of unlimited speed, which is cut: its upstream may be far ahead of its cancellation. */
    async acceptShortfall(): Promise<void> {
      acceptedShortfall = (await openLedgerStore(gateway.storage).audit()).shortfall;
    },
    get acceptedShortfall(): bigint {
      return acceptedShortfall;
    },
    /** The generations of the user, oldest first. */
    async generations(
      of = user,
    ): Promise<{ operation: string; outcome: string; model: string; parent: string | null }[]> {
      const table = gateway.storage.engine === "sqlite" ? "entries" : "generations";
      const rows = await query<{ operation: string; outcome: string; model: string; parent: string | null }>(
        gateway.storage,
        `SELECT operation, outcome, model, parent FROM ${table} WHERE owner = '${of}' AND operation IS NOT NULL ORDER BY started_at, id`,
      );
      // A plain array: that of Postgres has a class of its own.
      return [...rows];
    },
    sockets: (): readonly RecordedSocket[] => simulators.sockets(),
    get gateway(): Gateway {
      return gateway;
    },
    get simulators(): Simulators {
      return simulators;
    },
    get user(): string {
      return user;
    },
    get token(): string {
      return token;
    },
    /** Ends the gateway with `kill -9` and starts another one on the same storage. */
    async restart(): Promise<void> {
      gateway.process.kill("SIGKILL");
      await gateway.process.exited;
      const { folder, storageUrl } = gateway;
      await gateway.stop({ keepFolder: true });
      gateway = await startGateway({ ...optionsOf(storageUrl), folder });
    },
  };
}
