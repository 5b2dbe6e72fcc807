import { limits, type Sending, type Socket } from "../../core/index.ts";
import type { SocketEvents } from "../../http/index.ts";

type Connection = Bun.ServerWebSocket<SocketEvents>;

/** The adapter for Bun's WebSockets, whose data is the receiver of their events. */
export const bunSockets: Bun.WebSocketHandler<SocketEvents> = {
  maxPayloadLength: limits.socketMessageBytesMax,
  backpressureLimit: limits.socketQueuedBytesMax,
  // A message missing in the middle would go unnoticed.
  closeOnBackpressureLimit: true,
  idleTimeout: limits.socketIdleMsMax / 1_000,
  open: (connection) => connection.data.open(socketOn(connection)),
  message: (connection, message) => connection.data.message(message),
  drain: (connection) => connection.data.drain(),
  ping: (connection) => connection.data.control(),
  pong: (connection) => connection.data.control(),
  close: (connection, code, reason) => connection.data.close(code, reason),
};

function socketOn(connection: Connection): Socket {
  return {
    send: (message) => sendingOf(connection.send(message), message, connection),
    cork: (run) => connection.cork(run),
    ping: () => void connection.ping(),
    pause: () => connection.pause(),
    resume: () => connection.resume(),
    close: (code, reason) => connection.close(code, reason),
    terminate: () => connection.terminate(),
  };
}

/** Bun returns the number of sent bytes, -1 if they are queued, and 0 if they were dropped or empty. */
function sendingOf(status: number, message: string | Uint8Array, { readyState }: Connection): Sending {
  if (status === -1) return "waiting";
  const isEmpty = message.length === 0 && readyState === WebSocket.OPEN;
  return status > 0 || isEmpty ? "sent" : "lost";
}
