/** The commands and answers of the two processes of the realtime case, and the messages between them. */

/** Bytes of each message, and how many of them are written at once. */
export const messageBytes = 700;
export const burst = 20;

export const sessions = 500;

/** Messages a second on all sessions together. */
export const messagesPerSecond = 10_000;

/** A session sends a chunk of audio this often. */
export const appendEveryMs = 1_000;

export interface RealtimeUpstreamReady {
  port: number;
}

/** The upstream sends bursts from now on, for this many seconds, and then ends all responses. */
export interface SendCommand {
  seconds: number;
}

export interface SendResult {
  sent: number;
  /** Chunks of audio from the clients. */
  received: number;
}

export type ClientCommand =
  /** Opens all sessions; `begin` asks for a response in each of them, which `measure` awaits the end of. */
  | { kind: "open"; port: number; model: string; headers: Record<string, string> }
  | { kind: "begin" }
  | { kind: "measure" }
  | { kind: "close" };

export interface Opened {
  opened: number;
  problem: string | null;
}

export interface Measured {
  messages: number;
  appended: number;
  /** From the time at which a message was due at the upstream, in milliseconds. */
  p50: number;
  p99: number;
  p999: number;
  problem: string | null;
}

const head = '{"type":"response.output_audio.delta","event_id":"event_';
const middle = '","response_id":"resp_bench","item_id":"item_bench","output_index":0,"content_index":0,"delta":"';
const tail = '"}';
const digits = 10;
const timeDigits = 17;

/** A message with its number in the session and the time at which it was due, in microseconds since the epoch. */
export function encodeMessage(number: number, dueMicroseconds: number): string {
  const numbers = String(number).padStart(digits, "0") + String(Math.round(dueMicroseconds)).padStart(timeDigits, "0");
  const fixed = head.length + numbers.length + middle.length + tail.length;
  return head + numbers + middle + "A".repeat(messageBytes - fixed) + tail;
}

/** Undefined for a message that was changed. */
export function decodeMessage(text: string): { number: number; dueMicroseconds: number } | undefined {
  if (text.length !== messageBytes || !text.startsWith(head) || !text.endsWith(`A${tail}`)) return undefined;
  const at = head.length;
  if (!text.startsWith(middle, at + digits + timeDigits)) return undefined;
  return {
    number: Number(text.slice(at, at + digits)),
    dueMicroseconds: Number(text.slice(at + digits, at + digits + timeDigits)),
  };
}

export function nowMicroseconds(): number {
  return (performance.timeOrigin + performance.now()) * 1_000;
}
