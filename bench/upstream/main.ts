import { sayLine, serveLines } from "../http1/lines.ts";
import { UpstreamConnection } from "./connection.ts";
import type { UpstreamShared } from "./connection.ts";
import type { UpstreamCommand, UpstreamReady, UpstreamStatistics } from "./protocol.ts";
import { Streams } from "./streams.ts";

/** The fixed upstream: a separate process on a raw TCP listener, which costs as little as JavaScript permits. */
const shared: UpstreamShared = {
  statistics: { requests: 0, bodyBytes: 0, openStreams: 0 },
  streams: new Streams(),
  expectedFile: { bytes: 0, checksum: 0 },
};

const listener = Bun.listen<UpstreamConnection>({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    open(socket) {
      socket.setNoDelay(true);
      socket.data = new UpstreamConnection(socket, shared);
    },
    data: (socket, bytes) => receive(socket, bytes),
    drain: (socket) => socket.data.drain(),
    close: (socket) => void (socket.data.closed = true),
    error: (socket) => void (socket.data.closed = true),
  },
});

function receive(socket: Bun.Socket<UpstreamConnection>, bytes: Buffer): void {
  try {
    socket.data.receive(bytes);
  } catch (error) {
    process.stderr.write(`bench upstream: ${String(error)}\n`);
    socket.terminate();
  }
}

function obey(message: unknown): UpstreamStatistics {
  const command = message as UpstreamCommand;
  if (command.command === "plan") shared.streams.setPlan(command.plan);
  if (command.command === "expect-file") shared.expectedFile = command.file;
  return { ...shared.statistics, openStreams: shared.streams.open };
}

sayLine({ port: listener.port } satisfies UpstreamReady);
await serveLines(obey);
