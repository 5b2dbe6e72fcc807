/** A real server with routes for WebSockets, and clients of it. */
import { connect } from "node:net";
import pino from "pino";
import { createToken } from "../../../accounts/index.ts";
import { type App, createApp } from "../../../app/app.ts";
import { createAccounts } from "../../../app/accounts.ts";
import { loadConfig } from "../../../config/index.ts";
import type { AcceptedSocket, Socket, SocketHandler } from "../../../core/index.ts";
import { type Feature, features, type RouteCall } from "../../../http/index.ts";
import type { Storage } from "../../../storage/index.ts";
import { openStorage } from "../../../../test/kit/storage.ts";
import { environment } from "../../state.ts";
import { type Listening, listenShared } from "../listen.ts";

type Answer = Response | AcceptedSocket;

interface ServerParts {
  app: App;
  listening: Listening;
  storage: Storage;
  token: string;
  adminToken: string;
  log: Record<string, unknown>[];
  routes: { answer: (call: RouteCall) => Answer | Promise<Answer> };
}

/** `/v1/sockets/{name}` and, for administrators, `/v1/admin/socket`; `/v1/plain` does not accept WebSockets. */
export class SocketServer {
  readonly #parts: ServerParts;
  readonly #clients: Client[] = [];

  private constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  static async start(options: { drainMsMax?: number } = {}): Promise<SocketServer> {
    const storage = await openStorage("sqlite::memory:");
    const accounts = createAccounts(storage, environment, "test");
    const { token } = await createToken(accounts, { user: "alice" });
    const { token: adminToken } = await createToken(accounts, { user: "root", role: "owner" });
    const routes: ServerParts["routes"] = { answer: () => ({ socket: new Recorder() }) };
    const log: Record<string, unknown>[] = [];
    const { config, missingKeys } = loadConfig({ variables: {} });
    const listening = listenShared({ host: "127.0.0.1", port: 0 }, pino({ level: "silent" }));
    const app = createApp({
      memoryBytesMax: 1e9,
      config,
      missingKeys,
      sandbox: new Map(),
      storage,
      environment,
      logger: pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line) as Record<string, unknown>) }),
      version: "test",
      address: listening.url,
      upgrade: listening.upgrade,
      features: [...features, featureOf(routes)],
      ...options,
    });
    listening.answerWith(app.fetch);
    return new SocketServer({ app, listening, storage, token, adminToken, log, routes });
  }

  get url(): string {
    return this.#parts.listening.url;
  }

  get token(): string {
    return this.#parts.token;
  }

  get adminToken(): string {
    return this.#parts.adminToken;
  }

  get log(): readonly Record<string, unknown>[] {
    return this.#parts.log;
  }

  /** The behaviour of the WebSocket routes from now on. */
  answerWith(answer: (call: RouteCall) => Answer | Promise<Answer>): void {
    this.#parts.routes.answer = answer;
  }

  /** A GET with the token. */
  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, { headers: { authorization: `Bearer ${this.token}`, ...headers } });
  }

  connect({ path = "/v1/sockets/one", token = this.token } = {}): Client {
    const client = new Client(this.url.replace("http", "ws") + path, token);
    this.#clients.push(client);
    return client;
  }

  drain(): Promise<number> {
    return this.#parts.app.drain();
  }

  async stop(): Promise<void> {
    for (const { socket } of this.#clients) socket.close();
    await this.drain();
    await this.#parts.listening.close();
    await this.#parts.storage.close();
  }
}

function featureOf(routes: ServerParts["routes"]): Feature {
  const handle = (call: RouteCall) => routes.answer(call);
  return {
    routes: [
      { kind: "websocket", method: "get", path: "/v1/sockets/{name}", surface: "openai", access: "token", handle },
      { kind: "websocket", method: "get", path: "/v1/admin/socket", surface: "openai", access: "roles", roles: ["owner"], handle },
      {
        kind: "http",
        method: "get",
        path: "/v1/plain",
        surface: "openai",
        access: "token",
        handle: () => Response.json("plain"),
      },
    ],
  };
}

/** Echoes messages, and records all events. */
export class Recorder implements SocketHandler {
  readonly opened = Promise.withResolvers<Socket>();
  readonly drained = Promise.withResolvers<void>();
  readonly closed = Promise.withResolvers<[code: number, reason: string]>();
  closings = 0;

  open(socket: Socket): void {
    this.opened.resolve(socket);
  }

  async message(message: string | Uint8Array): Promise<void> {
    (await this.opened.promise).send(message);
  }

  drain(): void {
    this.drained.resolve();
  }

  close(code: number, reason: string): void | Promise<void> {
    this.closings += 1;
    this.closed.resolve([code, reason]);
  }
}

export class Client {
  readonly socket: WebSocket;
  readonly opened: Promise<void>;
  readonly closed: Promise<[code: number, reason: string]>;
  readonly received: unknown[] = [];
  #onMessage: (() => void) | undefined;

  constructor(url: string, token: string) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    this.socket.binaryType = "arraybuffer";
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<[number, string]>();
    // A test that expects no opening waits for the end.
    opened.promise.catch(() => undefined);
    this.opened = opened.promise;
    this.closed = closed.promise;
    this.socket.addEventListener("open", () => opened.resolve());
    this.socket.addEventListener("close", ({ code, reason }) => {
      opened.reject(new Error(`closed with ${code} before it opened`));
      closed.resolve([code, reason]);
    });
    this.socket.addEventListener("message", ({ data }) => {
      this.received.push(data);
      this.#onMessage?.();
    });
  }

  /** Resolves once this many messages have arrived in total. */
  async receive(count: number): Promise<readonly unknown[]> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
    return this.received;
  }
}

export interface RawHandshake {
  /** The status line and the headers of the answer, in lower case. */
  head: Promise<string>;
  /** Disconnects without closing. */
  leave: () => void;
}

/** A handshake written by hand: these headers replace or extend the usual ones. */
export function shakeHands(server: SocketServer, headers: Record<string, string> = {}): RawHandshake {
  const { hostname, port } = new URL(server.url);
  const connection = connect(Number(port), hostname);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  connection.on("data", (bytes) => {
    text += bytes.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end !== -1) resolve(text.slice(0, end).toLowerCase());
  });
  connection.on("close", () => reject(new Error(`no answer: ${text}`)));
  promise.catch(() => undefined);
  const sent = {
    host: "gateway",
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    authorization: `Bearer ${server.token}`,
    ...headers,
  };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.write(`GET /v1/sockets/raw HTTP/1.1\r\n${lines.join("")}\r\n`);
  return { head: promise, leave: () => connection.destroy() };
}
