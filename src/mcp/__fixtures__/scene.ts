/** An endpoint before a server with one tool, whose behaviour a test gives, and messages of both eras. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../core/index.ts";
import { Ticker } from "../../streaming/index.ts";
import { clientHeaders } from "../client-headers.ts";
import { McpEndpoint } from "../endpoint.ts";
import { freshState, type SessionState, type SessionStates } from "../session-states.ts";
import { type ForwardedAnswer, Questions } from "../questions.ts";
import type { McpServer, ToolAnswer, ToolCall, ToolTask } from "../server.ts";

export interface Scene {
  endpoint: McpEndpoint;
  /** Lets time pass for streams. */
  tick: (milliseconds: number) => void;
  /** Sends a message with the headers of its era and those given. */
  post: (body: JsonObject, options?: PostOptions) => Promise<Response>;
  /** Asks for the stream of a session. */
  get: (session: string, options?: { owner?: string }) => Promise<Response | undefined>;
  /** How often the state of a session was read. */
  reads: () => number;
  /** Answers to questions of other processes. */
  forwarded: { process: string; answer: ForwardedAnswer }[];
  /** The calls of the tool, in order. */
  calls: ToolCall[];
}

interface PostOptions {
  owner?: string;
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

interface SceneOptions {
  tool?: (call: ToolCall) => Promise<ToolAnswer>;
  task?: ToolTask;
  watch?: McpServer["watch"];
}

export const resultOf = (text: string): ToolAnswer => ({ result: { content: [{ type: "text", text }] } });

function createStates(): { states: SessionStates; reads: Scene["reads"] } {
  const stored = new Map<string, SessionState>();
  let reads = 0;
  const states: SessionStates = {
    known: (session) => stored.get(session),
    of: (session) => {
      reads += 1;
      const state = stored.get(session) ?? freshState;
      stored.set(session, state);
      return Promise.resolve(state);
    },
    change: (session, _owner, change) => {
      stored.set(session, change(stored.get(session) ?? freshState));
      return Promise.resolve();
    },
    begin: (session) => void stored.set(session, freshState),
    end: (session) => Promise.resolve(void stored.set(session, { ...freshState, isEnded: true })),
    onEnd: () => undefined,
    watch: () => () => undefined,
  };
  return { states, reads: () => reads };
}

export function createScene({ tool = () => Promise.resolve(resultOf("done")), task, watch }: SceneOptions = {}): Scene {
  const forwarded: Scene["forwarded"] = [];
  const { states, reads } = createStates();
  let now = 0;
  let onTick: (() => void) | undefined;
  const every = (_milliseconds: number, onDue: () => void): (() => void) => {
    onTick = onDue;
    return () => undefined;
  };
  const ticker = new Ticker(250, () => now, { every });
  const questions = new Questions({
    randomBytes: (size) => randomBytes(size),
    sealing: {
      seal: (text, owner) => JSON.stringify([text, owner]),
      open: (sealed, owner) => {
        const [text, own] = JSON.parse(sealed) as [string, string[]];
        if (own.join() !== owner.join()) throw new Error("of another owner");
        return text;
      },
    },
    process: "here",
    ticker,
    clock: () => now,
    forward: (process, answer) => Promise.resolve(forwarded.push({ process, answer }) > 0),
  });
  const endpoint = new McpEndpoint({ ticker, randomBytes: (size) => randomBytes(size), questions, states });
  const calls: ToolCall[] = [];
  const server: McpServer = {
    info: { name: "test", title: "Test", version: "1" },
    instructions: "none",
    listTools: () => ({ tools: '[{"name":"t"}]' }),
    callTool(call) {
      if (call.name !== "t") return Promise.resolve(undefined);
      calls.push(call);
      return tool(call);
    },
    getTask: ({ id }) => Promise.resolve(id === task?.taskId ? task : undefined),
    updateTask: ({ id }) => Promise.resolve(id === task?.taskId),
    door: "",
    relay: undefined,
    watch,
    onRetire: () => () => undefined,
    cancelTask: ({ id }) => Promise.resolve(id === task?.taskId),
  };
  return {
    endpoint,
    calls,
    forwarded,
    tick(milliseconds) {
      now += milliseconds;
      onTick?.();
    },
    post(body, { owner = "token1", headers = {}, signal = new AbortController().signal } = {}) {
      const { method = "", params = {} } = body as { method?: string; params?: JsonObject };
      const sent = new Headers({ accept: "application/json, text/event-stream", ...clientHeaders({ method, params }) });
      for (const [name, value] of Object.entries(headers)) {
        if (value === undefined) sent.delete(name);
        else sent.set(name, value);
      }
      return endpoint.post({ headers: sent, signal, body, owner, server });
    },
    get: (session, { owner = "token1" } = {}) =>
      endpoint.get({
        headers: new Headers({ "mcp-session-id": session }),
        signal: new AbortController().signal,
        owner,
        server,
      }),
    reads,
  };
}

/** A message of revision 2026-07-28. */
export function modern(method: string, params: JsonObject = {}, capabilities: JsonObject = {}): JsonObject {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...(params["_meta"] as JsonObject | undefined),
  };
  return { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } };
}

/** A message of the revisions of 2025. */
export const old = (method: string, params: JsonObject = {}, id: number | string = 1): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** The messages of a stream, to its end. */
export async function eventsOf(response: Response): Promise<JsonObject[]> {
  const text = await response.text();
  return text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as JsonObject);
}
