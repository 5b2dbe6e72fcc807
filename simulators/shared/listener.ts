import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

import { exchange, type ExchangeState, type Received } from "./exchange.ts";
import { BodyTooLargeError, flatHeaders, readBody } from "./http.ts";
import { asObject, parseJson } from "./json.ts";
import type { OpenSockets } from "./realtime/open-sockets.ts";
import { upgrade } from "./realtime/upgrade.ts";
import type { SimulatedProvider } from "./types.ts";
import type { SimulatorClock } from "./videos/stored-videos.ts";

/** Reads and clears the recorder from another process. */
const recorderPath = "/__requests";

/** Turns the clock of video jobs: a POST with `{"advance_ms": 4000}`. */
const clockPath = "/__clock";

export interface ListenerOptions extends ExchangeState {
  readonly clock: SimulatorClock;
  readonly providers: readonly SimulatedProvider[];
  readonly openSockets: OpenSockets;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

export interface Listener {
  readonly url: string;
  /** Closes the listener and every connection at once. */
  stop(): Promise<void>;
}

/**
 * Starts the HTTP listener that all simulated providers share. It is `node:http` because cutting and resetting a
 * connection needs the socket itself, which Bun's own server does not hand out.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = createServer((request, response) => {
    const handled = handle(request, response, options);
    // A bug in a simulator must not look like a provider's answer, nor end the process.
    handled.catch((error: unknown) => {
      console.error("simulator failed:", error);
      response.socket?.destroy();
    });
  });
  server.on("upgrade", (request, connection, head) => {
    upgrade(request, connection, head, options).catch((error: unknown) => {
      console.error("simulator failed:", error);
      connection.destroy();
    });
  });
  // Models may think for minutes and tests may stall for ever: nothing here is ended by the clock.
  Object.assign(server, { timeout: 0, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
  const port = await bind(server, options);
  return { url: `http://${options.host}:${port}`, stop: () => close(server, options) };
}

function bind(server: Server, options: ListenerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : options.port);
    });
  });
}

function close(server: Server, { openSockets }: ListenerOptions): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    openSockets.cut();
    server.closeAllConnections();
  });
}

async function handle(request: IncomingMessage, response: ServerResponse, options: ListenerOptions): Promise<void> {
  response.sendDate = false;
  const received = await receive(request, response);
  if (received === null) return;
  if (received.url.pathname === recorderPath) return answerRecorder(received, response, options);
  if (received.url.pathname === clockPath) return answerClock(received, response, options);
  const provider = options.providers.find((one) => received.url.pathname.startsWith(`/${one.name}/`));
  if (provider === undefined) return sendJson(response, 404, { error: "no simulated provider at this path" });
  await exchange(received, response, provider, options);
}

/** Null if the request could not be read; it was refused or its caller has disconnected. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<Received | null> {
  try {
    const bytes = await readBody(request);
    const url = new URL(request.url ?? "/", "http://simulator");
    return { method: request.method ?? "GET", url, headers: flatHeaders(request), bytes };
  } catch (error) {
    if (error instanceof BodyTooLargeError) sendJson(response, 413, { error: error.message });
    else response.socket?.destroy();
    return null;
  }
}

function answerRecorder(received: Received, response: ServerResponse, state: ExchangeState): void {
  const { recorder, faultBook } = state;
  if (received.method === "DELETE") {
    recorder.clear();
    faultBook.reset();
  }
  sendJson(response, 200, { requests: recorder.requests, total: recorder.total });
}

function answerClock({ method, bytes }: Received, response: ServerResponse, { clock }: ListenerOptions): void {
  const ahead = asObject(parseJson(bytes.toString("utf8")))["advance_ms"];
  if (method === "POST" && typeof ahead === "number") clock.advance(ahead);
  sendJson(response, 200, { now: clock.now });
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
