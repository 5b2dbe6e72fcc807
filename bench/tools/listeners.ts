/** Streams of changes that stay open, at the URL of all servers: how much memory a gateway needs for them. */
import type { Gateway } from "../../test/kit/gateway.ts";
import { useOfTree } from "../system/processes.ts";
import { headersOf, messageOf } from "./messages.ts";

export interface ListenerFigures {
  streams: number;
  /** Above the memory before the first one, in bytes. */
  bytes: number;
}

const listenerCount = 2_000;

/** A token may have a hundred at a time. */
const streamsOfToken = 100;

/** Streams that are opened at a time. */
const openingMax = 50;

/** Memory that only the beginning needs is free by then. */
const settleMs = 4_000;

export async function measureListeners(gateway: Gateway): Promise<ListenerFigures> {
  const tokens = await Promise.all(
    Array.from({ length: listenerCount / streamsOfToken }, (_, at) => gateway.token({ user: `listener-${at}` })),
  );
  const open = (from: number, to: number): Promise<Bun.Socket[]> =>
    Promise.all(Array.from({ length: to - from }, (_, at) => listen(gateway.url, tokens[(from + at) % tokens.length])));
  // The first ones make things that all have in common.
  for (const socket of await open(0, openingMax)) socket.end();
  await Bun.sleep(settleMs);
  const before = useOfTree(gateway.process.pid).residentBytes;
  const sockets: Bun.Socket[] = [];
  while (sockets.length < listenerCount) {
    sockets.push(...(await open(sockets.length, Math.min(listenerCount, sockets.length + openingMax))));
  }
  await Bun.sleep(settleMs);
  const bytes = useOfTree(gateway.process.pid).residentBytes - before;
  for (const socket of sockets) socket.end();
  return { streams: sockets.length, bytes };
}

/** Resolves once the stream is acknowledged. */
function listen(url: string, token = ""): Promise<Bun.Socket> {
  const { hostname, port, host } = new URL(url);
  const body = JSON.stringify(messageOf("subscriptions/listen", { notifications: { toolsListChanged: true } }));
  const headers = { ...headersOf(token, "subscriptions/listen"), host, "content-length": String(body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const { promise, resolve, reject } = Promise.withResolvers<Bun.Socket>();
  let text = "";
  void Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(`POST /mcp/all HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`),
      data(socket, bytes) {
        text += bytes.toString();
        if (text.includes("acknowledged")) resolve(socket);
      },
      close: () => reject(new Error(`a stream has ended: ${text.slice(0, 200)}`)),
      connectError: (_socket, error) => reject(error),
    },
  });
  return promise;
}
