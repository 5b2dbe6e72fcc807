import { limits } from "../../core/index.ts";
import type { Sending, Socket, SocketEvents } from "../../http/index.ts";

type Connection = Bun.ServerWebSocket<SocketEvents>;

/** Bun's WebSockets, whose data is to whom they report. */
export const bunSockets: Bun.WebSocketHandler<SocketEvents> = {
  maxPayloadLength: limits.socketMessageBytesMax,
  backpressureLimit: limits.socketQueuedBytesMax,
  // A message that went missing in the middle would be noticed by nobody.
  closeOnBackpressureLimit: true,
  idleTimeout: limits.socketIdleMsMax / 1_000,
  open: (connection) => connection.data.open(socketOn(connection)),
  message: (connection, message) => connection.data.message(message),
  drain: (connection) => connection.data.drain(),
  close: (connection, code, reason) => connection.data.close(code, reason),
};

function socketOn(connection: Connection): Socket {
  return {
    send: (message) => sendingOf(connection.send(message), message, connection),
    ping: () => void connection.ping(),
    close: (code, reason) => connection.close(code, reason),
  };
}

/** Bun gives the bytes that were sent, -1 where they wait, and 0 where they are lost or there were none. */
function sendingOf(status: number, message: string | Uint8Array, { readyState }: Connection): Sending {
  if (status === -1) return "waiting";
  const isEmpty = message.length === 0 && readyState === WebSocket.OPEN;
  return status > 0 || isEmpty ? "sent" : "lost";
}
