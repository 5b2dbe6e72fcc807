import type { JsonObject, ObservedUsage } from "../core/index.ts";

/** The kinds of a realtime session: a conversation, or transcripts of audio only. */
export type SessionType = "realtime" | "transcription";

/** How an upstream's realtime sessions are opened and metered. Their events are those of OpenAI's API. */
export interface RealtimeApi {
  /** The query of the handshake. */
  query(type: SessionType, model: string): string;
  /** Converts a session in OpenAI's terms to the one that a `session.update` contains. */
  toUpstreamSession(session: JsonObject, type: SessionType): JsonObject;
  /** Reads `usage` of the response in a `response.done`; undefined if it counts nothing. */
  readUsage(usage: unknown): ObservedUsage | undefined;
  /**
   * Reads `usage` of a completed transcription of the input. Absent if transcriptions are part of the session's own price.
   */
  readTranscriptionUsage?(usage: unknown): ObservedUsage | undefined;
  /** Transcribed audio is billed in steps of so many milliseconds. */
  audioMsStep?: number;
}
