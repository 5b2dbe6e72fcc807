import type { Faults } from "./faults.ts";
import type { Identity } from "./identity.ts";
import type { Problem } from "./check.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import type { FormPart } from "./multipart.ts";
import type { WebSocket } from "ws";
import type { Frame } from "./sse.ts";

/** Header names in lower case; a list is sent as several header lines (`set-cookie`). */
export type Headers = { readonly [name: string]: string | readonly string[] };

/** A provider's answer, before faults are applied to its delivery. */
export type Answer =
  | {
      readonly kind: "json";
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Headers;
      readonly lead?: string;
    }
  | { readonly kind: "stream"; readonly frames: Iterable<Frame>; readonly headers?: Headers }
  /** A file or a plain text, sent whole. */
  | {
      readonly kind: "bytes";
      /** 200 by default. */
      readonly status?: number;
      readonly contentType: string;
      readonly bytes: Uint8Array;
      readonly headers?: Headers;
    }
  /** A file sent while it is generated: without a length, and faults count its pieces as events. */
  | {
      readonly kind: "pieces";
      readonly contentType: string;
      readonly pieces: Iterable<Uint8Array>;
      readonly headers?: Headers;
    };

/** A provider's error: status and the body in that provider's own shape. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Every refusal of a provider, in its own format. */
export interface ProviderErrors {
  /** The error this provider sends with a status (fault directive `status-N`). */
  forStatus(status: number): ErrorAnswer;
  forProblem(problem: Problem): ErrorAnswer;
  keyMissing(): ErrorAnswer;
  keyInvalid(): ErrorAnswer;
  modelNotFound(model: string): ErrorAnswer;
  routeNotFound(method: string, path: string): ErrorAnswer;
  /** The end of a stream that fails after so many events. */
  midStream(events: number): readonly Frame[];
}

/** One request as a route sees it. */
export interface Call {
  readonly method: string;
  readonly path: string;
  /** Values of `:name` segments of the route's path. */
  readonly parameters: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  readonly headers: { readonly [name: string]: string };
  /** The decoded JSON body, with the fault suffix removed from `model`; undefined if it is not JSON. */
  readonly body: unknown;
  /** The parts of a form, treated alike; null for another content type and for a form that cannot be read. */
  readonly form: readonly FormPart[] | null;
  readonly bytes: Uint8Array;
  readonly identity: Identity;
  readonly faults: Faults;
  /** The provider's stored objects: responses, the states of threads, and files. */
  readonly kept: KeptAnswers;
}

export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Absolute path with `:name` for one segment, or for its part before a colon (`:model:predict`). */
  readonly path: string;
  /** Answers without an API key, as signed addresses of files do. */
  readonly open?: boolean;
  /** The error format of this route, if a provider has more than one. */
  readonly errors?: ProviderErrors;
  handle(call: Call): Answer;
}

/** One handshake as a route sees it. */
export interface SocketCall {
  /** Of the query, without its fault specification. */
  readonly model: string;
  readonly query: URLSearchParams;
  readonly key: string | null;
  readonly headers: { readonly [name: string]: string };
  /** The provider's stored objects. */
  readonly kept: KeptAnswers;
}

/** A path on which a provider accepts WebSockets. */
export interface SocketRoute {
  readonly path: string;
  /** The refusal of a handshake; undefined if it is accepted. */
  refuse?(call: SocketCall): ErrorAnswer | undefined;
  open(socket: WebSocket, call: SocketCall, name: string): void;
}

/** A simulated provider, as the listener needs it. */
export interface SimulatedProvider {
  readonly name: string;
  /** The path of the base URL, as the gateway's configuration would hold it. */
  readonly basePath: string;
  readonly errors: ProviderErrors;
  readonly routes: readonly Route[];
  /** Absent: it accepts no WebSockets. */
  readonly sockets?: readonly SocketRoute[];
  /** The API key of a request; null without one. */
  apiKey(call: Call): string | null;
  /** A fault specification within the body or the query, for providers whose requests name no model; null without one. */
  faultSpec?(call: Call): string | null;
  /** Headers that this provider puts on every answer. */
  responseHeaders(call: Call): Headers;
}

/** Wraps an error as an answer. */
export function errorAnswer(error: ErrorAnswer): Answer {
  return { kind: "json", status: error.status, body: error.body };
}

/** A 200 with a JSON body. */
export function jsonAnswer(body: unknown): Answer {
  return { kind: "json", status: 200, body };
}

/** Models with names beginning with this do not exist at any simulated provider. */
export function isMissingModel(model: string): boolean {
  return model.startsWith("missing-");
}
