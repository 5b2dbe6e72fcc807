/**
 * How one call is told to its upstream, and the answer to its client: what sending and relaying need to know of it,
 * whatever the call is of. `exchange-text` makes one for text generation, `exchange-media` for everything else.
 */
import type { ObservedUsage } from "../core/index.ts";
import type { WholeAnswer, UpstreamBody } from "../sending/index.ts";
import type { StreamObserver } from "../streaming/index.ts";
import type { StreamEvents } from "./relay-stream.ts";

/** The media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";

export interface Exchange {
  /** What the upstream gets: mostly one request. */
  readonly requests: readonly [ExchangeRequest, ...ExchangeRequest[]];
  /**
   * Whether the upstream hears the client's own words. Then it hears the client's headers too, and what it answers under a
   * status of success is the client's to judge.
   */
  readonly passesThrough: boolean;
  /** Whether the upstream is asked for a stream: where it knows none, the client's is made of its whole answer. */
  readonly streamed: boolean;
  /** What an answer's headers say of its body, where that is not the upstream's. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Begins to observe a stream of events, where there can be one. */
  readonly observe: (() => ObservedStream) | undefined;
  /** Begins to observe an answer of bytes that are no JSON, where there can be one. */
  readonly observeBytes: (() => ObservedStream) | undefined;
  /** Whole answers, one for each request that succeeded, as the client gets them. Throws where there is nothing to give. */
  answer(answers: readonly [WholeAnswer, ...WholeAnswer[]]): ClientAnswer;
  /** Bytes of text in a whole answer of the upstream's, for an estimate where it names no usage. */
  outputBytes(answer: string): number;
  /** The body of an upstream's error as the client gets it. */
  failure(status: number, body: string): string;
}

/** One request to the upstream. */
export interface ExchangeRequest {
  /** What follows the operation's path; mostly nothing. */
  subpath: string;
  body: UpstreamBody;
}

/** What reads a stream along. */
export interface ObservedStream {
  observer: StreamObserver;
  /** Undefined for a stream of bytes. */
  events: StreamEvents | undefined;
}

export interface ClientAnswer {
  body: Uint8Array | string;
  /** Where it is not what the exchange's headers say. */
  contentType?: string;
  /** The answer as one object in the client's dialect, JSON text. */
  whole: string;
  /** What it holds that is paid for by other units than tokens. */
  counted?: ObservedUsage | undefined;
}
