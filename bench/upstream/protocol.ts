/** Dialects that the upstream speaks. */
export type UpstreamDialect = "chat" | "messages" | "gemini";

/** In the path of a request: chat calls are refused with 503, or in every other second. */
export const busyPath = "busy";
export const flappingPath = "flapping";

/**
 * How streams are written from now on:
 * - `burst`: all bursts at once, with one turn of the event loop between two, no timer
 * - `paced`: one burst every `gapMs`
 * - `hold`: the first burst, then one event every `gapMs` until another plan is set; then the rest
 */
export type StreamPlan = { kind: "burst" } | { kind: "paced"; gapMs: number } | { kind: "hold"; gapMs: number };

/** The file that uploads hold. */
export interface ExpectedFile {
  bytes: number;
  /** CRC-32. */
  checksum: number;
}

export type UpstreamCommand =
  | { command: "plan"; plan: StreamPlan }
  | { command: "expect-file"; file: ExpectedFile }
  | { command: "statistics" };

export interface UpstreamReady {
  port: number;
}

/** Counted since the start. A proxy that answered without asking the upstream would show here. */
export interface UpstreamStatistics {
  requests: number;
  bodyBytes: number;
  openStreams: number;
}
