/** An upstream of realtime sessions that writes bursts of messages at fixed times, whether or not earlier ones were read. */
import { sayLine, serveLines } from "../http1/lines.ts";
import {
  burst,
  encodeMessage,
  messagesPerSecond,
  nowMicroseconds,
  type SendCommand,
  type SendResult,
  type RealtimeUpstreamReady,
} from "./protocol.ts";

type Session = Bun.ServerWebSocket<{ number: number }>;

const open: Session[] = [];
let received = 0;

const usage = {
  total_tokens: 200,
  input_tokens: 100,
  output_tokens: 100,
  input_token_details: { text_tokens: 100, audio_tokens: 0, cached_tokens: 0 },
  output_token_details: { text_tokens: 0, audio_tokens: 100 },
};

const server = Bun.serve<{ number: number }>({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request, own) =>
    own.upgrade(request, { data: { number: 0 } }) ? undefined : Response.json({ object: "list", data: [] }),
  websocket: {
    idleTimeout: 0,
    open(socket) {
      open.push(socket);
      socket.send(JSON.stringify({ type: "session.created", session: { id: "sess_bench", model: "bench-model" } }));
    },
    message(socket, message) {
      if (String(message).includes('"response.create"')) {
        socket.send(
          JSON.stringify({ type: "response.created", response: { id: "resp_bench", status: "in_progress" } }),
        );
      } else received += 1;
    },
    close(socket) {
      open.splice(open.indexOf(socket), 1);
    },
  },
});

/** One burst every so often, each on the next session. */
async function send(seconds: number): Promise<SendResult> {
  const everyMicroseconds = (1_000_000 * burst) / messagesPerSecond;
  const bursts = (seconds * 1_000_000) / everyMicroseconds;
  const before = received;
  const start = nowMicroseconds();
  for (let sent = 0; sent < bursts;) {
    const due = start + sent * everyMicroseconds;
    const waitMs = (due - nowMicroseconds()) / 1_000;
    if (waitMs > 1) await Bun.sleep(1);
    else if (waitMs > 0) await new Promise<void>((resolve) => void setImmediate(resolve));
    else {
      write(open[sent % open.length], due);
      sent += 1;
    }
  }
  for (const socket of open) {
    socket.send(JSON.stringify({ type: "response.done", response: { id: "resp_bench", status: "completed", usage } }));
  }
  return { sent: bursts * burst, received: received - before };
}

function write(socket: Session | undefined, due: number): void {
  socket?.cork(() => {
    for (let count = 0; count < burst; count += 1) {
      socket.send(encodeMessage(socket.data.number, due));
      socket.data.number += 1;
    }
  });
}

sayLine({ port: server.port ?? 0 } satisfies RealtimeUpstreamReady);
await serveLines((message) => send((message as SendCommand).seconds));
