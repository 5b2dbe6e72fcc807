/** The correct answer. */
export type Expectation =
  /** 200, and a body that holds `marker` and ends with `}`. */
  | { kind: "json"; marker: string }
  /** 200, exactly `events` events and then `data: [DONE]`. */
  | { kind: "stream"; events: number }
  /** 200, exactly `events` events, `words` of them with a word of the text, and `message_stop` at the end. */
  | { kind: "messages-stream"; events: number; words: number }
  | { kind: "gemini-stream"; events: number; words: number }
  /** 200, some events and then `data: [DONE]`. */
  | { kind: "open-stream" };

/** A group of callers that do the same thing, each on its own keep-alive connection. */
export interface CallerGroup {
  callers: number;
  /** The request, head and body, in base64. */
  request: string;
  expectation: Expectation;
  /** How long a caller thinks between an answer and its next request, ms. */
  pauseMs: number;
  /** Close the connection after that many events of a stream instead of reading it to its end. */
  hangUpAfterEvents: number | null;
}

/** Each caller sends its next request when the last answer has ended, until the time is over. */
export interface ClosedLoopJob {
  kind: "closed-loop";
  port: number;
  groups: CallerGroup[];
  seconds: number;
}

/** Opens streams and answers when each has had its first event; `finish` then waits for their ends. */
export interface HoldOpenJob {
  kind: "hold-open";
  port: number;
  streams: number;
  request: string;
  expectation: Expectation;
}

/** Every caller sends the same request at once, on its own connection, and reads its answer. */
export interface WaveJob {
  kind: "wave";
  port: number;
  callers: number;
  /** Holds the request, head and body, which is too large for a line. */
  requestFile: string;
  expectation: Expectation;
}

/** One of the servers that take turns, and its callers. */
export interface TurnSide {
  port: number;
  group: CallerGroup;
}

/**
 * The sides are under load one after the other, `turns` times each, and keep their connections in between. The side
 * that comes first changes from turn to turn.
 */
export interface TurnsJob {
  kind: "turns";
  sides: readonly [TurnSide, TurnSide];
  /** The side that begins. */
  first: 0 | 1;
  turns: number;
  turnSeconds: number;
}

/** Requests at a constant rate, whether or not earlier ones have been answered. */
export interface OpenLoopJob {
  kind: "open-loop";
  port: number;
  /** The request, head and body, in base64. */
  request: string;
  expectation: Expectation;
  perSecond: number;
  seconds: number;
  /** Connections at the start, and at most. */
  connections: number;
  connectionsMax: number;
}

export type LoadJob = ClosedLoopJob | OpenLoopJob | HoldOpenJob | WaveJob | TurnsJob | { kind: "finish" };

/** Milliseconds. */
export interface Spread {
  p50: number;
  p99: number;
  max: number;
}

/** Milliseconds. */
export interface Tail extends Spread {
  p999: number;
}

export interface Problems {
  count: number;
  /** The first few, for the report. */
  examples: string[];
}

export interface ClosedLoopResult {
  /** All answers that were read to their right end, those that ended after the time was over included. */
  completed: number;
  /** Those that ended within the time, a second. */
  perSecond: number;
  hangUps: number;
  /** Connections that the server closed between two answers. */
  reconnects: number;
  problems: Problems;
  latency: Spread;
  /** Time to the first `data:` of a stream's body. */
  firstEvent: Spread | null;
}

export interface OpenLoopResult {
  completed: number;
  perSecond: number;
  /** Open at the end. */
  connections: number;
  problems: Problems;
  /** From the time at which a request was due to the end of its answer. */
  latency: Tail;
  /** From that time to the send: the load generator's own delay, and the wait for a connection. */
  sendDelay: Tail;
}

export interface HoldOpenResult {
  opened: number;
  firstEvent: Spread | null;
  problems: Problems;
}

export interface WaveResult {
  completed: number;
  /** From the first byte sent to the end of the last answer, ms. */
  wallMs: number;
  problems: Problems;
}

/** Of one side, over all its turns. */
export interface TurnsResult {
  completed: number;
  problems: Problems;
}

export interface FinishResult {
  completed: number;
  problems: Problems;
}
