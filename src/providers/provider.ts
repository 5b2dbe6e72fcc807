import type { JsonEdit } from "../bodies/index.ts";
import type {
  Dialect,
  JsonObject,
  ModelFacts,
  ModelOperation,
  ObservedUsage,
  RequestFeature,
  Surface,
  Usage,
  WorkBound,
} from "../core/index.ts";
import type { BatchApi } from "./batch-api.ts";
import type { CallInput, UpstreamRequestBody } from "./call-input.ts";
import type { RealtimeApi } from "./realtime-api.ts";
import type { ToolReader } from "./tool-purchase.ts";
import type { VideoApi, VideoRequests } from "./video-api.ts";

export type { CallInput, FormField, UpstreamRequestBody } from "./call-input.ts";
export type { RunLimit, ToolPurchase } from "./tool-purchase.ts";

/**
 * One kind of upstream: the paths of its operations, its headers, and how its answers are read. Only data and pure
 * functions; keys, retries and sockets belong to `sending`.
 */
export interface Provider {
  /** The provider's id in the price catalog, if it has one. */
  priceProvider: string | undefined;
  /** Headers with the key and any required version, for a path of an operation or listing. */
  headers(key: string, path: string): Record<string, string>;
  /** The supported operations; calls of an absent operation are answered with 404. */
  operations: Readonly<Partial<Record<ModelOperation, UpstreamOperation>>>;
  /** How its video jobs are followed; absent if it has none. */
  videos?: VideoApi;
  /** The files that callers upload to it; absent if it stores none for them. */
  files?: UpstreamFiles;
  /** Its own batches; absent if it has none. */
  batches?: BatchApi;
  models: ModelListing;
  failures: FailureRules;
}

/** An upstream's files, with OpenAI's routes. */
export interface UpstreamFiles {
  /** Its requests; the path is that of the list. */
  operation: UpstreamOperation;
  /** The request for a file's bytes; absent if its metadata contains an address for them instead. */
  download?: UpstreamOperation;
  /** The API whose format they have. */
  surface: Surface;
  /** Whether it is meant if a request of that API names no provider. */
  isDefault: boolean;
  /** Whether a page of the list is named by the id of the file before it (OpenAI's `after`), or by a word of the upstream's (`page`). */
  pagesBy: "after" | "page";
  /** The answer to a deletion. */
  deleted(id: string): JsonObject;
  /** The member of a file with the time of its deletion, in seconds since the epoch. */
  expiryField: string;
  /** A field of an upload that names an address to fetch the file from, if there may be one. */
  urlField?: string;
  /** Fields of an upload, without brackets, that would reach stores of the operator, with the reason to refuse them. */
  refusedFields: Readonly<Record<string, string>>;
}

/** An answer that is not JSON. */
export interface BinaryAnswer {
  bytes: Uint8Array;
  contentType: string;
}

/** A call converted to an upstream's own format. */
export interface UpstreamRequests {
  /** Several requests are sent in parallel; those that succeed are answered and charged. */
  requests: readonly [UpstreamRequestBody, ...UpstreamRequestBody[]];
  /**
   * Converts the upstream's answers, in the order of the requests, to the answer that the client expects; `at` is the
   * start of the call in seconds since the epoch. If absent, answers are passed through. Throws if they contain no
   * result; then nothing is charged.
   */
  answer?(answers: readonly JsonObject[], at: number): JsonObject | BinaryAnswer;
}

/** How an upstream limits the output that it bills for an answer. */
export interface OutputLimit {
  /** The field of the limit that bounds everything billed as output, thought included. */
  field: string;
  /** Fields that the upstream takes for a limit as well, and that must not be sent beside it. */
  replaces: readonly string[];
  /** The member of the body that has these fields, by each of its names; absent: the body itself. */
  within?: readonly [string, ...string[]];
  /** The smallest limit that the upstream accepts. */
  min: number;
  /** Whether an answer to this body, in the upstream's dialect, may be billed for thought that a stream does not contain. */
  hidesThought(model: string, body: JsonObject): boolean;
  /** Whether this body's own limit leaves thought unlimited. Absent: it never does. */
  isAnswerOnly?(body: JsonObject): boolean;
}

/** The billed extras of a request, besides its input and its answer. */
export type RequestedExtras = Pick<
  WorkBound,
  | "terms"
  | "toolUnits"
  | "fixedUnits"
  | "ownPrices"
  | "others"
  | "helpers"
  | "toolRuns"
  | "alternatives"
  | "outputBuckets"
>;

/** How an upstream does one operation. */
export interface UpstreamOperation {
  /** The dialect that the upstream uses for this operation; absent if the operation doesn't generate text. */
  dialect?: Dialect;
  /** Appended to the provider's base URL. */
  path: string;
  /**
   * The rest of the path, for an upstream whose requests are addressed to a model: `model` and `stream` are no members of their
   * bodies then.
   */
  subpath?(model: string, streamed: boolean): string;
  /** In the place of the provider's base URL. */
  baseUrl?: string;
  /** The operation for an answer to continue, if this one takes none. */
  forPrefill?: UpstreamOperation;
  /** The operation for a body that this one does not take, without a dialect; undefined for any other body. */
  forBody?(body: JsonObject): UpstreamOperation | undefined;
  /** The purposes that texts to embed may have; absent if there are none. */
  purposes?: {
    /** The values of `input_type`, by Google's names. */
    names: Readonly<Record<string, string>>;
    /** Whether a text may have a `title` too. */
    takesTitle?: boolean;
  };
  /**
   * Edits of the client's body that this upstream needs, besides the model's name, which is `model`. Long texts in `body`
   * are truncated.
   */
  edits(body: JsonObject, model: string): readonly JsonEdit[];
  /**
   * Whether a body of this operation's own dialect is translated nevertheless: it contains something that this upstream
   * refuses, and that the translation expresses otherwise. Absent: never.
   */
  needsTranslation?(body: JsonObject, model: string): boolean;
  /**
   * A body with two members of one name is translated as well: it isn't known which of them this upstream takes, and the gateway has
   * checked the last.
   */
  takesKeysOnce?: true;
  /** What this operation refuses or ignores silently; a request for it uses another one of the provider. */
  ignores?(model: string): readonly RequestFeature[];
  /** Reads the purchases of a request's tool; absent if the operation takes no tools, or none that could buy anything. */
  readTool?: ToolReader;
  /** The upstream itself tries the `models` of a body, one after the other (OpenRouter). */
  triesModels?: boolean;
  /** Its answers have failed images among the others, and its streams of images other events than OpenAI's. */
  failsByImage?: boolean;
  /** Its chat streams differ from OpenAI's where clients of that dialect stumble over it. */
  hasIrregularStream?: boolean;
  /** The deltas of its chat streams may each have a role. */
  repeatsRole?: boolean;
  /**
   * Converts a call if an operation without a dialect has another format at this upstream; `model` is the upstream's
   * name of the model. Returns undefined to pass the call through. Throws 422 if the upstream has no equivalent.
   */
  toUpstream?(input: CallInput, model: string): UpstreamRequests | undefined | Promise<UpstreamRequests | undefined>;
  /** Client headers that are forwarded if the client uses the same dialect. */
  forwardedHeaders?: readonly string[];
  /**
   * Reads what else a body asks for; undefined if nothing. The body is in the upstream's dialect or, without one, the
   * client's own.
   */
  extras?(body: JsonObject, model: string): RequestedExtras | undefined;
  /** How output is limited; absent if the operation doesn't generate text. */
  outputLimit?: OutputLimit;
  /** The most that one image uses, if the upstream bills tokens for it; `body` is in OpenAI's terms. */
  imageUsageMax?(body: JsonObject, model: string): Usage | undefined;
  /** How a model differs from others of the dialect, for translated requests. */
  facts?(model: string): ModelFacts;
  /** How the requests of an operation that creates video jobs are converted and bounded. */
  video?: VideoRequests;
  /** How sessions are opened and metered, if the operation is one. */
  realtime?: RealtimeApi;
  /** The upstream also takes requests over a WebSocket at the same path, one at a time on each. */
  hasSocket?: boolean;
  /** The upstream stores its answers: they can be looked up and continued by id under the same path. */
  storesAnswers?: true;
  /** The upstream runs responses with `background` after their requests: they are looked up and cancelled under the same path. */
  runsInBackground?: true;
  /** Reads the usage of a whole answer or of one stream event; undefined if it contains none. */
  readUsage(answer: JsonObject): ObservedUsage | undefined;
  /** The duration of audio is billed in steps of this many milliseconds, rounded up; by the millisecond if absent. */
  audioMsStep?: number;
  /** Whether an answer with a success status is nevertheless a failure. */
  isFailure(answer: JsonObject): boolean;
}

/** A model in an upstream's listing. */
export interface ListedModel {
  id: string;
  /** Seconds since the epoch. */
  created: number | undefined;
  ownedBy: string | undefined;
  /** The name for people. */
  displayName: string | undefined;
  contextLength: number | undefined;
  maxOutputTokens: number | undefined;
  /** Further members of the model in Anthropic's format, if the listing has that format. */
  anthropicMembers?: JsonObject;
}

/** The paged listing of the models, or a built-in list for an upstream without such a route. */
export type ModelListing =
  | { from: "catalog"; models: readonly ListedModel[] }
  | {
      from: "upstream";
      /** Appended to the base URL; `after` is the previous page's `next`. */
      path(after: string | undefined): string;
      /** Headers beyond `Provider.headers`. */
      headers?: Record<string, string>;
      parse(body: JsonObject): { models: ListedModel[]; next: string | undefined };
      /** Models that can be called and that the upstream does not list. */
      unlisted?: readonly ListedModel[];
    };

/** How this upstream's errors differ from the common meaning of their status. */
export interface FailureRules {
  /** The key is refused. A 401 means that without any pattern. */
  keyRefused: readonly FailurePattern[];
  /** The key has no money or quota left, so a retry with it is pointless. A 402 means that without any pattern. */
  quotaGone: readonly FailurePattern[];
  /** The upstream does not have the model, or does not permit it to this account. Without any pattern, a 403 and a 410. */
  modelGone: readonly FailurePattern[];
  /** The input is too long for the model. */
  contextWindow: readonly FailurePattern[];
  /** The upstream refuses the content. */
  contentPolicy: readonly FailurePattern[];
  /** A passing fault of the upstream although the status does not suggest it: overload, or a check that broke down. */
  retryable: readonly FailurePattern[];
}

/** Identifies a meaning: any of the patterns, under any of the statuses. */
export interface FailurePattern {
  statuses: readonly number[];
  /** Matched against each of the upstream's codes (`UpstreamFault.codes`). */
  codes?: RegExp;
  /**
   * Matched against the message, if the upstream has no code for this failure. It must be anchored at the start,
   * because the remainder of a message may repeat the caller's text.
   */
  message?: RegExp;
}

/** The parts of an error body that an upstream defines itself; other parts may repeat the caller's text. */
export interface UpstreamFault {
  /** Codes, types, statuses, reasons and quota ids; numbers as digits. */
  codes: readonly string[];
  message: string | undefined;
  /** The wait that the body requests, in milliseconds. */
  retryDelayMs: number | undefined;
}
