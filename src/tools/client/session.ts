/** The sessions of servers, and the requests that are made in them. */
import type { CallSignal, JsonObject } from "../../core/index.ts";
import { type ClientQuestion, type LogLevel, uiCapability, uiExtension } from "../../mcp/index.ts";
import type { ServerQuestions } from "./server-questions.ts";

export interface McpRequest {
  method: string;
  params: JsonObject;
  /** For the whole request. */
  timeoutMs: number;
  /** Bytes of the answer with everything before it. */
  bytesMax: number;
  signal?: CallSignal;
  /** Further headers for a stateless server. */
  headers?: Readonly<Record<string, string>>;
  /** Called with each notification that belongs to the request. */
  onNotification?: (method: string, params: JsonObject) => void;
  onSent?: (isSent: boolean) => void;
  /** Those of the caller's client that are declared to a stateless server. */
  capabilities?: JsonObject | undefined;
  /** The client's answers to a stateless server that has asked in an earlier result. */
  answers?: JsonObject | undefined;
  /** Whether the server is asked for progress. */
  wantsProgress?: boolean;
  /** The log messages that the client wants: from a level on, or as the server decides. */
  log?: { level: LogLevel | undefined } | undefined;
  /** The caller's span, as members of `_meta`. */
  trace?: Readonly<Record<string, string>> | undefined;
  /** Whether it is asked in a session, if the server has both: its client has one, and some servers ask such clients alone. */
  prefersSession?: boolean | undefined;
  /** The client that a server of 2025 may ask. Without it no question is taken. */
  asked?: AskedClient | undefined;
}

/** A stream of changes. */
export interface ListenRequest {
  /** The resources whose updates are wanted. */
  uris: readonly string[];
  /** Its abort ends the stream. */
  signal: CallSignal;
  /** Called once the server has begun the stream. */
  onOpen: () => void;
  onNotification: (method: string, params: JsonObject) => void;
}

/** A client that takes the questions of servers. */
export interface AskedClient {
  /** Its token, and its session if it has one. */
  client: { owner: string; session: string | undefined };
  /** Those of its capabilities by which servers ask. */
  capabilities: JsonObject;
  /** Rejects with the client's refusal, an `RpcError`. */
  ask: (question: ClientQuestion) => Promise<JsonObject>;
}

export interface ServerSession {
  isStateless: false;
  headers: Readonly<Record<string, string>>;
  /** Of its log messages; undefined if the server has none. */
  log: { level: LogLevel | undefined } | undefined;
  /** That of one client's own session. `enter`: a request begins; the function that it returns is for its end. */
  stream?: undefined | { enter: (questions: ServerQuestions) => (isAnswered: boolean) => void };
}

export type Session = { isStateless: true } | ServerSession;

export const stateless: Session = { isStateless: true };

/**
 * Declared wherever the client is not known yet, so that lists have the tools with pages of their own. Clients that show none have the texts
 * of their results.
 */
export const shownCapabilities: JsonObject = { extensions: { [uiExtension]: uiCapability } };

/** Without a session. */
export const sessionless: ServerSession = { isStateless: false, headers: {}, log: undefined };

/** Whether the server knows it by an id. */
export function hasId(session: Session): boolean {
  return !session.isStateless && "mcp-session-id" in session.headers;
}
