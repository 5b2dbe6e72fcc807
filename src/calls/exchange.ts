/**
 * The plan of one call: the requests to its upstream, and the conversion of the answer for its client. Sending and
 * relaying need only this interface. `exchange-text` creates it for text generation, `exchange-media` for everything
 * else.
 */
import type { ObservedUsage, Usage } from "../core/index.ts";
import type { RequestedExtras } from "../providers/index.ts";
import type { WholeAnswer, UpstreamBody } from "../sending/index.ts";
import type { ChargedUsage, StreamObserver } from "../streaming/index.ts";
import type { StreamEvents } from "./relay/stream-blocks.ts";

export interface Exchange {
  /**
   * Creates the requests to the upstream, usually one. `outputTokens` replaces the output's own limit, `toolRuns` limits
   * the hosted tools that have no limit of their own. Called once, after the hold.
   */
  requests(outputTokens?: number, toolRuns?: number): readonly [ExchangeRequest, ...ExchangeRequest[]];
  /** What else the request asks for; undefined if nothing. */
  readonly extras: RequestedExtras | undefined;
  /** How far the request itself limits the output; undefined if the call generates no text. */
  readonly output: RequestedOutput | undefined;
  /**
   * Whether the upstream gets the client's own body. It then gets the client's headers too, and an answer with a
   * success status is passed on without inspection.
   */
  readonly passesThrough: boolean;
  /**
   * Whether the upstream is asked for a stream. If it does not stream, the client's stream is made from its whole
   * answer.
   */
  readonly streamed: boolean;
  /** The headers that describe the answer, if its upstream sends none or others. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Creates the observer of a stream of events, if there can be one. */
  readonly observe: ((charged: ChargedUsage) => ObservedStream) | undefined;
  /** Creates the observer of an answer of bytes other than JSON, if there can be one. */
  readonly observeBytes: (() => ObservedStream) | undefined;
  /**
   * Converts whole answers, one per successful request, for the client. `charged` is the usage that a translated answer
   * contains. Throws if there is no usable answer.
   */
  answer(answers: readonly [WholeAnswer, ...WholeAnswer[]], charged: Usage): ClientAnswer;
  /** The bytes of text in a whole answer of the upstream, for an estimate if it reports no usage. */
  outputBytes(answer: string): number;
  /** Converts the body of an upstream's error for the client. */
  failure(status: number, body: string): string;
}

/** What the hold of a text generation depends on, besides the numbers of its bound. */
export interface RequestedOutput {
  /** Whether the upstream may bill thought that its stream does not contain. */
  hidesThought: boolean;
  /** Whether the request's own limit leaves thought unlimited. */
  isAnswerOnly: boolean;
}

/** One request to the upstream. */
export interface ExchangeRequest {
  /** Appended to the operation's path; usually empty. */
  subpath: string;
  body: UpstreamBody;
}

/** The observer of a stream, with its format. */
export interface ObservedStream {
  observer: StreamObserver;
  /** Undefined for a stream of bytes. */
  events: StreamEvents | undefined;
}

export interface ClientAnswer {
  body: Uint8Array | string;
  /** Overrides the exchange's headers. */
  contentType?: string;
  /** The answer as one object in the client's dialect, as JSON text. */
  whole: string;
  /** The units of the answer other than tokens. */
  counted?: ObservedUsage | undefined;
}
