/** The events of a session that the gateway reads, and those that it sends itself. All others pass by unread. */
import { scanObject } from "../bodies/index.ts";
import { type GatewayError, type JsonObject, limits, parseObject } from "../core/index.ts";

/** The usual beginnings of an event, which are read without parsing the rest: most events are audio. */
const beginning = /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"([a-z_.]+)"/;

/** The type of an upstream's event; undefined for a message that is no event. */
export function typeOfEvent(text: string): string | undefined {
  const [, type] = beginning.exec(text) ?? [];
  if (type !== undefined) return type;
  const named = parseObject(text)?.["type"];
  return typeof named === "string" ? named : undefined;
}

/**
 * A client's chunk of audio as all clients send it. The whole text must match: a second `type` in the same event would be
 * another event for an upstream that reads the last one.
 */
const appendedAudio =
  /^\s*\{\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"type"\s*:\s*"input_audio_buffer\.append"\s*,\s*(?:"event_id"\s*:\s*"[^"\\]*"\s*,\s*)?"audio"\s*:\s*"([\w+/=-]*)"\s*\}\s*$/;

/** Bounds of an event that is not audio: parsing a value costs more than reading its bytes. */
const bounds = {
  depthMax: limits.jsonDepthMax,
  membersMax: limits.jsonMembersMax,
  valuesMax: 65_536,
  keysMax: 32_768,
  bareBytesMax: limits.smallBodyBytesMax,
};

/** A client's message: audio of this many bytes of base64, another event, or anything else. */
export type ClientEvent =
  | { kind: "audio"; base64Bytes: number }
  | { kind: "event"; type: string; event: JsonObject; hasTwins: boolean }
  | { kind: "unknown" }
  /** Too large to be read. */
  | { kind: "too-complex" };

/** Reads a client's message. */
export function readClientEvent(text: string): ClientEvent {
  const [, audio] = appendedAudio.exec(text) ?? [];
  if (audio !== undefined) return { kind: "audio", base64Bytes: audio.length };
  const scan = scanObject(Buffer.from(text), bounds);
  if ("refused" in scan) return { kind: scan.refused.startsWith("not-") ? "unknown" : "too-complex" };
  const event = parseObject(text);
  const type = event?.["type"];
  if (event === undefined || typeof type !== "string") return { kind: "unknown" };
  return { kind: "event", type, event, hasTwins: hasTwins(text, event) };
}

/** Each text of a JSON document, and the colon behind it if it is a key. */
const texts = /"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)/g;

/** Whether an object of the event has a key twice: parsers differ in which of the two they read. */
function hasTwins(text: string, event: JsonObject): boolean {
  let keys = 0;
  for (const [, colon] of text.matchAll(texts)) if (colon === ":") keys += 1;
  return keys !== keysIn(event);
}

function keysIn(event: JsonObject): number {
  let keys = 0;
  const left: unknown[] = [event];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (value === null || typeof value !== "object") continue;
    const members: unknown[] = Object.values(value);
    if (!Array.isArray(value)) keys += members.length;
    for (const member of members) if (member !== null && typeof member === "object") left.push(member);
  }
  return keys;
}

/** An `error` event in OpenAI's format, for what the gateway refuses or ends. */
export function errorEvent(error: GatewayError, eventId: string | undefined): string {
  const { message, type, code, param = null } = error;
  return JSON.stringify({
    type: "error",
    event_id: `event_${crypto.randomUUID().replaceAll("-", "")}`,
    error: { type, code, message, param, event_id: eventId ?? null },
  });
}
