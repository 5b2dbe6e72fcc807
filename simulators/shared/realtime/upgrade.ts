/** Accepts or refuses the handshakes of sessions. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { FaultSpecError, splitModel } from "../faults.ts";
import { type ExchangeState, refusedKey } from "../exchange.ts";
import { bearerKey, flatHeaders, pause } from "../http.ts";
import { KeptAnswers } from "../kept-answers.ts";
import type { ErrorAnswer, SimulatedProvider, SocketCall } from "../types.ts";
import { type OpenSockets, subprotocolOf } from "./open-sockets.ts";

export interface UpgradeState extends ExchangeState {
  readonly providers: readonly SimulatedProvider[];
  readonly openSockets: OpenSockets;
}

/** What a provider's server chose of the offered subprotocols; none by default. */
const server = new WebSocketServer({
  noServer: true,
  handleProtocols: (offered) => subprotocolOf([...offered]) ?? false,
});

const statusTexts: { readonly [status: number]: string } = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
};

/** Handles one handshake: records it, applies its faults, and opens the session. */
export async function upgrade(
  request: IncomingMessage,
  connection: Duplex,
  head: Buffer,
  state: UpgradeState,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://simulator");
  const headers = flatHeaders(request);
  const provider = state.providers.find((one) => url.pathname.startsWith(`/${one.name}/`));
  const closeRecord = state.recorder.open({
    provider: provider?.name ?? "",
    method: "GET",
    path: url.pathname + url.search,
    headers,
    body: "",
    parts: null,
  });
  connection.once("close", () => closeRecord("answered"));
  const route = provider?.sockets?.find(({ path }) => path === url.pathname);
  if (provider === undefined || route === undefined) {
    refuse(connection, { status: 404, body: { error: { message: "There is no WebSocket here." } } });
    return;
  }
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((text) => text.trim());
  const { model, spec: ofModel } = splitModel(url.searchParams.get("model") ?? "");
  const spec = [headers["x-sim-fault"], ofModel].filter((part) => typeof part === "string").join("+");
  const key = bearerKey(headers) ?? secretIn(offered);
  try {
    const faults = state.faultBook.take(spec === "" ? null : spec, `${provider.name} ${url.href}`, key);
    if (faults.stallAfter === 0) {
      // No answer, for as long as the caller waits.
      connection.once("end", () => connection.destroy());
      return;
    }
    await pause(faults.slowMs, new AbortController().signal);
    if (faults.connectReset) {
      connection.destroy();
      return;
    }
    if (faults.status !== null) {
      refuse(connection, provider.errors.forStatus(faults.status));
      return;
    }
  } catch (error) {
    if (!(error instanceof FaultSpecError)) throw error;
    refuse(connection, { status: 400, body: { error: { message: error.message, type: "simulator_error" } } });
    return;
  }
  const kept = state.kept.get(provider.name) ?? new KeptAnswers();
  const call: SocketCall = { model, query: url.searchParams, key, headers, kept };
  const refused =
    key === null
      ? provider.errors.keyMissing()
      : key === refusedKey
        ? provider.errors.keyInvalid()
        : route.refuse?.(call);
  if (refused !== undefined) {
    refuse(connection, refused);
    return;
  }
  server.handleUpgrade(request, connection, head, (socket: WebSocket) => {
    const record = state.openSockets.add(provider.name, url, socket);
    route.open(socket, call, record.name);
  });
}

function refuse(connection: Duplex, { status, body }: ErrorAnswer): void {
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${statusTexts[status] ?? "Refused"}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    "connection: close",
  ];
  connection.end(`${lines.join("\r\n")}\r\n\r\n${text}`);
}

/** The secret in the subprotocols of a browser. */
function secretIn(offered: readonly string[]): string | null {
  for (const beginning of ["openai-insecure-api-key.", "xai-client-secret."]) {
    const found = offered.find((protocol) => protocol.startsWith(beginning));
    if (found !== undefined) return found.slice(beginning.length);
  }
  return null;
}
