/** The clients of all sessions: each message must arrive, in order and unchanged. */
import { createHistogram } from "node:perf_hooks";
import { sayLine, serveLines } from "../http1/lines.ts";
import {
  appendEveryMs,
  type ClientCommand,
  decodeMessage,
  type Measured,
  messageBytes,
  nowMicroseconds,
  type Opened,
  sessions,
} from "./protocol.ts";

const sockets: WebSocket[] = [];
let histogram = createHistogram();
let problem: string | null = null;
let isClosing = false;
let messages = 0;
let begun = 0;
let ended = 0;
/** A response has begun or ended, or a session was closed. */
let onChange: (() => void) | undefined;

const append = JSON.stringify({ type: "input_audio_buffer.append", audio: "A".repeat(messageBytes - 48) });

function receive(text: string, expected: number): boolean {
  const message = decodeMessage(text);
  if (message?.number !== expected) {
    problem ??= `message ${expected} was ${text.slice(0, 80)}`;
    return false;
  }
  histogram.record(Math.max(1, Math.round(nowMicroseconds() - message.dueMicroseconds)));
  messages += 1;
  return true;
}

function openOne({ port, model, headers }: Extract<ClientCommand, { kind: "open" }>): Promise<void> {
  const url = `ws://127.0.0.1:${port}/v1/realtime?model=${encodeURIComponent(model)}`;
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let number = 0;
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    if (data.startsWith('{"type":"response.output_audio.delta"')) {
      if (receive(data, number)) number += 1;
    } else if (data.includes('"session.created"')) resolve();
    else if (data.includes('"response.created"')) {
      begun += 1;
      onChange?.();
    } else if (data.includes('"response.done"')) {
      ended += 1;
      onChange?.();
    } else problem ??= `an unexpected message: ${data.slice(0, 200)}`;
  });
  socket.addEventListener("close", ({ code, reason }) => {
    const why = `a session was closed with ${code} ${reason}`;
    if (!isClosing) problem ??= why;
    reject(new Error(why));
    onChange?.();
  });
  sockets.push(socket);
  return promise;
}

async function open(command: Extract<ClientCommand, { kind: "open" }>): Promise<Opened> {
  sockets.length = 0;
  problem = null;
  isClosing = false;
  try {
    // In batches, as a crowd of handshakes is not what is measured.
    for (let from = 0; from < sessions; from += 50) {
      await Promise.all(Array.from({ length: Math.min(50, sessions - from) }, () => openOne(command)));
    }
  } catch (error) {
    return { opened: sockets.length, problem: error instanceof Error ? error.message : String(error) };
  }
  return { opened: sockets.length, problem: null };
}

/** Waits until so many responses have begun or ended, or something went wrong. */
async function waitFor(isReached: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    onChange = () => {
      if (isReached() || problem !== null) resolve();
    };
    onChange();
  });
  onChange = undefined;
}

async function begin(): Promise<null> {
  begun = 0;
  ended = 0;
  histogram = createHistogram();
  messages = 0;
  for (const socket of sockets) socket.send(JSON.stringify({ type: "response.create" }));
  await waitFor(() => begun === sessions);
  return null;
}

/** In milliseconds. */
function timeAt(percentile: number): number {
  return histogram.percentile(percentile) / 1_000;
}

/** Until all responses have ended. */
async function measure(): Promise<Measured> {
  let appended = 0;
  const timer = setInterval(() => {
    sockets[appended % sockets.length]?.send(append);
    appended += 1;
  }, appendEveryMs / sessions);
  await waitFor(() => ended === sessions);
  clearInterval(timer);
  return { messages, appended, p50: timeAt(50), p99: timeAt(99), p999: timeAt(99.9), problem };
}

async function close(): Promise<null> {
  isClosing = true;
  await Promise.all(
    sockets.map((socket) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.addEventListener("close", () => resolve());
      if (socket.readyState === WebSocket.CLOSED) resolve();
      socket.close(1000);
      return promise;
    }),
  );
  return null;
}

sayLine("ready");
await serveLines((message) => {
  const command = message as ClientCommand;
  switch (command.kind) {
    case "open":
      return open(command);
    case "begin":
      return begin();
    case "measure":
      return measure();
    case "close":
      return close();
  }
});
