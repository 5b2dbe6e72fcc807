/** A server of tools, as the protocol layer sees it: the same calls for every revision. */
import type { JsonObject } from "../core/index.ts";
import type { LogLevel } from "./log-levels.ts";
import type { ClientQuestion } from "./questions.ts";

/** A member of a result that people and models read. */
export type ToolContent =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string; mimeType?: string };

export interface ToolResult {
  content: readonly (ToolContent | JsonObject)[];
  structuredContent?: JsonObject;
  isError?: boolean;
  _meta?: JsonObject;
}

export interface ToolDefinition {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonObject;
  annotations: { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint: boolean };
}

/** How far a call is. `progress` grows with every update. */
export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** The questions that a client takes, and the answers that it gives. */
export interface ClientInput {
  /** Its token, and its session if it has one. Clients of 2026-07-28 with one token and the same capabilities are one. */
  client: { owner: string; session: string | undefined };
  /** Those of its capabilities by which a server may ask. */
  capabilities: JsonObject;
  /** Whether questions may be the result of a request, which the client then makes again with the answers. */
  takesQuestions: boolean;
  /** Asks the client during the request. */
  ask?: ((question: ClientQuestion) => Promise<JsonObject>) | undefined;
  /** By the keys of the questions of the last result. */
  responses: JsonObject | undefined;
  /** As it came with those. */
  state: string | undefined;
}

/** One call of a tool. */
export interface ToolCall {
  name: string;
  arguments: JsonObject;
  /** Whether the client can follow a task in place of waiting. */
  takesTasks: boolean;
  /** Whether the client can show the user an address, and has not just done so. */
  takesUrls?: boolean;
  /** Aborted when the client closes the request, or cancels it. */
  signal: AbortSignal;
  /** Undefined if the client wants no progress. */
  onProgress: ((progress: ToolProgress) => void) | undefined;
  /** Undefined for a client that no server can ask. */
  input?: ClientInput | undefined;
  /** Undefined if the client wants no log messages. */
  log?: ServerLog | undefined;
  /** The caller's span, as the headers of W3C Trace Context, if the message names one. */
  trace?: Readonly<Record<string, string>>;
}

/** The log messages that a client wants. */
export interface ServerLog {
  /** The lowest level; undefined if the client has named none. */
  level: LogLevel | undefined;
  /** `params`: as in `notifications/message`. Those of lower levels go no further. */
  send: (params: JsonObject) => void;
}

/** Work that goes on after its call (the extension `io.modelcontextprotocol/tasks`). */
export interface ToolTask {
  taskId: string;
  status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  statusMessage?: string;
  /** In ISO 8601. */
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs?: number;
  /** Of a completed task: the result that its call would have returned. */
  result?: ToolResult;
  /** Of a failed one: the error of the protocol that its call would have returned. */
  error?: JsonObject;
  /** Of one that waits for the client: its open questions. */
  inputRequests?: JsonObject;
}

/** A look at a task, or an act on it. */
export interface TaskRequest {
  id: string;
  /** Those of the client by which a server may ask it. */
  capabilities: JsonObject;
  signal: AbortSignal;
}

/** An address that the user opens before the call is made again. */
export interface UserAddress {
  url: string;
  message: string;
}

/** The end of a call: its result, a task, a question to the user, or those of a server, and headers for an answer that is not a stream. */
export interface ToolAnswer {
  result: ToolResult | { task: ToolTask } | { asks: UserAddress } | { questions: JsonObject };
  headers?: Readonly<Record<string, string>>;
}

/** The definitions that a caller may see, as the text of a JSON array, and the servers whose tools are missing. */
export interface ToolListing {
  tools: string;
  unavailable?: readonly string[];
}

/** A request for another server. */
interface RelayedRequest {
  method: string;
  /** Without the input of the client. */
  params: JsonObject;
  signal: AbortSignal;
  input: ClientInput | undefined;
  log: ServerLog | undefined;
  /** See `ToolCall`. */
  trace: Readonly<Record<string, string>>;
}

export type ListKind = "tools" | "prompts" | "resources";

/** A list has changed, or the resource at an address. */
export type ServerChange = { list: ListKind } | { uri: string };

/** Resources that a client may watch. */
export const RESOURCES_MAX = 100;

/** Characters of their addresses together. */
export const RESOURCE_CHARACTERS_MAX = 16 * 1024;

export interface WantedChanges {
  lists: readonly ListKind[];
  /** Addresses of resources. */
  uris: readonly string[];
}

export interface WatchedChanges {
  /** Those of the wanted resources that are watched. */
  uris: readonly string[];
  stop: () => void;
}

/** One server for one caller. */
export interface McpServer {
  /** The name at the end of its URL; empty for that of the gateway's own tools. */
  door: string;
  /** Calls back with changes, until it is stopped. Undefined without other servers. */
  watch: ((wanted: WantedChanges, onChange: (change: ServerChange) => void) => Promise<WatchedChanges>) | undefined;
  /** Calls back when streams of the caller have to end: another configuration is in force, or the token is withdrawn. Returns a function that ends that. */
  onRetire(callback: () => void): () => void;
  info: { name: string; title: string; version: string };
  instructions: string;
  /** For a client of 2026-07-28, or an older one. */
  listTools(isStateless: boolean): ToolListing | Promise<ToolListing>;
  /** Resolves with undefined if the caller has no such tool. A failure is a result with `isError`. */
  callTool(call: ToolCall): Promise<ToolAnswer | undefined>;
  /** Undefined if the caller has no such task. */
  getTask(asked: TaskRequest): Promise<ToolTask | undefined>;
  /** Gives a task the answers to its questions. False if the caller has no such task. */
  updateTask(asked: TaskRequest, responses: JsonObject): Promise<boolean>;
  /** False if the caller has no such task. */
  cancelTask(asked: TaskRequest): Promise<boolean>;
  /** The result of a method for prompts, resources or completions; undefined if there are none. Rejects with an `RpcError`. */
  relay: ((asked: RelayedRequest) => Promise<JsonObject>) | undefined;
}
