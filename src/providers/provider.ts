import type { JsonEdit } from "../bodies/index.ts";
import type { CallFile, Dialect, JsonObject, ModelFacts, ObservedUsage, Operation } from "../core/index.ts";

/**
 * One kind of upstream: where its operations are, how it is spoken to, how its answers are read. Pure data and pure
 * functions; keys, retries and sockets belong to `calls`.
 */
export interface Provider {
  /** The provider's id in genai-prices, where it has one. */
  priceProvider: string | undefined;
  /** Headers that carry the key and whatever version the upstream wants named, on this path of an operation or listing. */
  headers(key: string, path: string): Record<string, string>;
  /** What this upstream can do; an absent operation is answered with 404. */
  operations: Readonly<Partial<Record<Operation, UpstreamOperation>>>;
  models: ModelListing;
  failures: FailureRules;
}

/** A call's input as an operation reshapes it: the fields of its JSON or of its form, and the form's files. */
export interface CallInput {
  body: JsonObject;
  files: readonly CallFile[];
}

/** A part of a form that is made here; a file is sent as it came. */
export type FormField = { name: string; text: string } | { name: string; file: CallFile };

/** What one request of a reshaped call carries. */
export interface UpstreamRequestBody {
  /** Follows the operation's path. */
  subpath?: string;
  /** Whole; the `model` in it, where it has one, becomes the upstream's name of it. */
  json?: JsonObject;
  /** Whole, to be sent in this order. Where neither is given, the client's own body goes, with the operation's edits. */
  form?: readonly FormField[];
}

/** An answer that is no JSON. */
export interface BinaryAnswer {
  bytes: Uint8Array;
  contentType: string;
}

/** One call in an upstream's own shape. */
export interface UpstreamRequests {
  /** Several are sent side by side; what succeeds of them is answered, and charged. */
  requests: readonly [UpstreamRequestBody, ...UpstreamRequestBody[]];
  /**
   * The upstream's answers as the client expects them, in the order of the requests; `at` is when the call began, in seconds
   * since the epoch. Left out, they pass as they are. Throws where they hold nothing to answer with; then nothing is charged.
   */
  answer?(answers: readonly JsonObject[], at: number): JsonObject | BinaryAnswer;
}

/** How one operation is done upstream. */
export interface UpstreamOperation {
  /** The shape of text generation that the upstream speaks there; left out where it generates no text. */
  dialect?: Dialect;
  /** Appended to the provider's base URL. */
  path: string;
  /** Edits of the client's body that this upstream needs, besides the model's prefix. Of long texts `body` has the beginning. */
  edits(body: JsonObject): JsonEdit[];
  /**
   * Makes a call of the client's anew where an operation without a dialect has another shape at this upstream, given the
   * model's name there; undefined for one that passes as it is. Throws 422 for what can't be said.
   */
  toUpstream?(input: CallInput, model: string): UpstreamRequests | undefined | Promise<UpstreamRequests | undefined>;
  /** Headers that go upstream from a client of the same dialect. */
  forwards?: readonly string[];
  /** How a model differs from others of the dialect, for requests that are written from another one. */
  facts?(model: string): ModelFacts;
  /** It keeps its answers, to be looked up and continued by their ids under the same path. */
  keeps?: { listsInput: boolean };
  /** The usage in a whole answer or in one event of a stream, or undefined where it holds none. */
  readUsage(answer: JsonObject): ObservedUsage | undefined;
  /** Whether an answer with a success status is a failure all the same. */
  isFailure(answer: JsonObject): boolean;
}

/** A model as an upstream lists it. */
export interface ListedModel {
  id: string;
  /** Seconds since the epoch. */
  created: number | undefined;
  ownedBy: string | undefined;
  contextLength: number | undefined;
  maxOutputTokens: number | undefined;
}

/** Where the models are listed, page by page, or the list itself for an upstream without such a route. */
export type ModelListing =
  | { from: "catalog"; models: readonly ListedModel[] }
  | {
      from: "upstream";
      /** Appended to the base URL; `after` is the previous page's `next`. */
      path(after: string | undefined): string;
      /** Headers beyond `Provider.headers`. */
      headers?: Record<string, string>;
      parse(body: JsonObject): { models: ListedModel[]; next: string | undefined };
    };

/** How this upstream's errors differ from the common meaning of their status. */
export interface FailureRules {
  /** The key itself is refused. A 401 says so by itself. */
  keyRefused: readonly FailurePattern[];
  /** No money or quota is left on this key: another try with it is pointless. */
  quotaGone: readonly FailurePattern[];
  /** Another try may succeed although the status does not say so. */
  retryable: readonly FailurePattern[];
}

/** What tells one meaning: any of its patterns, under one of its statuses. */
export interface FailurePattern {
  statuses: readonly number[];
  /** Matched against each of the upstream's own words (`UpstreamFault.words`). */
  codes?: RegExp;
  /**
   * Matched against the sentence, for an upstream that has no word for it. It must be anchored at the start: further on,
   * upstreams repeat what the caller wrote.
   */
  message?: RegExp;
}

/** What an upstream says of a failure in fields that are its own; the rest of a body may repeat the caller's text. */
export interface UpstreamFault {
  /** Codes, types, statuses, reasons and quota ids, a number as its digits. */
  codes: readonly string[];
  message: string | undefined;
  /** How long the body asks to wait, in milliseconds. */
  retryDelayMs: number | undefined;
}
