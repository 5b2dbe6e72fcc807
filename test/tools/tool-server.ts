/** A server of tools for tests, in one era, written after the specification: it notes each message, and a test gives its results. */

type Json = Record<string, unknown>;

interface ReceivedMessage {
  method: string;
  params: Json;
  headers: Headers;
}

export interface TestServer {
  url: string;
  received: ReceivedMessage[];
  /** The messages with this method. */
  of(method: string): ReceivedMessage[];
  /** The definitions that it lists. */
  tools: Json[];
  /** Forgets all sessions, as a restart does. */
  forget(): void;
  /** Sends a notification to those who listen for changes. */
  push(method: string, params?: Json): void;
  /** How many listen. */
  listeners(): number;
  stop(): Promise<void>;
}

/** The stream of a call. */
interface CallStream {
  /** Sends a request, and resolves with the answer: a message with a result or an error. */
  ask: (method: string, params: Json) => Promise<Json>;
  notify: (method: string, params: Json) => void;
}

export interface TestServerOptions {
  era: "2025" | "2026";
  tools?: Json[];
  /**
   * The result of a call; a promise may wait. Undefined, or a member `error`: an error of the protocol. A rejection ends the answer without it.
   */
  call?: (
    params: Json,
    report: (progress: Json) => void,
    signal: AbortSignal,
    stream: CallStream,
  ) => Json | undefined | Promise<Json | undefined>;
  /** Those of a session. */
  capabilities?: Json;
  /** Whether it closes the stream of a call at its beginning, also when that is read on behind the event with the call's name. */
  closes?: (name: string) => boolean;
  /** The result of a method that is no tool's; undefined, or a member `refusal`: an error of the protocol. Without it, it knows none. */
  answer?: (method: string, params: Json) => object | undefined;
  /** Tools on a page of the list. */
  pageSize?: number;
  /** The answer to a request that is not let in, or that is none of the protocol. */
  before?: (request: Request, url: string) => Promise<Response | undefined>;
  /** The only bearers that are let in. */
  bearer?: string | readonly string[];
}

export const textResult = (text: string): Json => ({ content: [{ type: "text", text }] });

const echo: Json = { name: "echo", description: "Repeats", inputSchema: { type: "object", properties: {} } };

export function startTestServer(options: TestServerOptions): TestServer {
  const received: ReceivedMessage[] = [];
  const sessions = new Set<string>();
  const questions = new Map<unknown, (answer: Json) => void>();
  /** Calls whose streams can be read on. */
  const open = new Map<string, () => Response>();
  const listeners = new Set<(method: string, params: Json) => void>();
  const own = { tools: options.tools ?? [echo] };
  const { pageSize = 1_000, call = () => textResult("done") } = options;
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const answered = await options.before?.(request, `http://127.0.0.1:${server.port}/mcp`);
      if (answered !== undefined) return answered;
      const { bearer } = options;
      if (bearer !== undefined) {
        const admitted = [bearer].flat().map((one) => `Bearer ${one}`);
        if (!admitted.includes(request.headers.get("authorization") ?? "")) return new Response("", { status: 401 });
      }
      const behind = request.headers.get("last-event-id");
      const parted = behind === null ? undefined : open.get(behind);
      if (parted !== undefined) return parted();
      if (request.method === "GET" && options.era === "2025") return changes(listeners, {});
      if (request.method !== "POST") return new Response("", { status: 405 });
      const message = (await request.json()) as { id?: number; method?: string; params?: Json };
      const { id, method, params = {} } = message;
      if (method === undefined) {
        questions.get(id)?.(message);
        return new Response("", { status: questions.delete(id) ? 202 : 400 });
      }
      received.push({ method, params, headers: request.headers });
      const refused = refusal(request.headers, method, params, id);
      if (refused !== undefined) return refused;
      if (id === undefined) return new Response("", { status: 202 });
      const result = (value: Json, headers = {}) => Response.json({ jsonrpc: "2.0", id, result: value }, { headers });
      if (method === "server/discover") return result({ resultType: "complete", supportedVersions: ["2026-07-28"] });
      if (method === "initialize") {
        const session = crypto.randomUUID();
        sessions.add(session);
        return result(
          { protocolVersion: "2025-06-18", capabilities: options.capabilities ?? {} },
          { "mcp-session-id": session },
        );
      }
      if (method === "subscriptions/listen" && options.era === "2026") {
        const { notifications } = params;
        const meta = { "io.modelcontextprotocol/subscriptionId": id };
        const first = { method: "notifications/subscriptions/acknowledged", params: { _meta: meta, notifications } };
        return changes(listeners, meta, first);
      }
      if (method === "tools/list") {
        const from = Number(params["cursor"] ?? 0);
        const tools = own.tools.slice(from, from + pageSize);
        return result({ tools, ...(from + pageSize < own.tools.length && { nextCursor: String(from + pageSize) }) });
      }
      if (method !== "tools/call") {
        const answer = options.answer?.(method, params);
        if (answer !== undefined && "refusal" in answer)
          return Response.json({ jsonrpc: "2.0", id, error: answer.refusal });
        if (answer !== undefined) return result({ ...answer });
        const isKnown = options.answer !== undefined && method === "resources/read";
        const error = isKnown ? { code: -32_002, message: "Wrong address" } : { code: -32_601, message: "No method" };
        return Response.json({ jsonrpc: "2.0", id, error });
      }
      const answer = (): Response =>
        streamed(id, async (send) => {
          const { progressToken } = (params["_meta"] ?? {}) as Json;
          const report = (progress: Json): void =>
            send({ method: "notifications/progress", params: { progressToken, ...progress } });
          const ask = (asked: string, given: Json): Promise<Json> => {
            const { promise, resolve } = Promise.withResolvers<Json>();
            const questionId = crypto.randomUUID();
            questions.set(questionId, resolve);
            send({ id: questionId, method: asked, params: given });
            return promise;
          };
          const notify = (notified: string, given: Json): void => send({ method: notified, params: given });
          return call(params, report, request.signal, { ask, notify });
        });
      const name = String(params["name"]);
      if (options.closes === undefined) return answer();
      const part = (): Response =>
        options.closes?.(name) === true
          ? new Response(`id: ${name}\nretry: 50\ndata: \n\n`, { headers: { "content-type": "text/event-stream" } })
          : answer();
      open.set(name, part);
      return part();
    },
  });

  function refusal(headers: Headers, method: string, params: Json, id: number | undefined): Response | undefined {
    const meta = (params["_meta"] ?? {}) as Json;
    if (options.era === "2025") {
      if (method === "server/discover") return new Response("Bad Request: no session", { status: 400 });
      const session = headers.get("mcp-session-id");
      if (method !== "initialize" && (session === null || !sessions.has(session)))
        return new Response("", { status: 404 });
      return undefined;
    }
    const isRight =
      headers.get("mcp-protocol-version") === "2026-07-28" &&
      meta["io.modelcontextprotocol/protocolVersion"] === "2026-07-28" &&
      headers.get("mcp-method") === method;
    if (isRight) return undefined;
    return Response.json(
      { jsonrpc: "2.0", id: id ?? null, error: { code: -32_020, message: "mismatch" } },
      { status: 400 },
    );
  }

  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    received,
    of: (method) => received.filter((each) => each.method === method),
    get tools() {
      return own.tools;
    },
    set tools(tools) {
      own.tools = tools;
    },
    push: (method, params = {}) => {
      for (const listener of listeners) listener(method, params);
    },
    listeners: () => listeners.size,
    forget: () => sessions.clear(),
    stop: () => server.stop(true),
  };
}

/** A stream of changes. */
function changes(listeners: Set<(method: string, params: Json) => void>, meta: Json, first?: Json): Response {
  const encoder = new TextEncoder();
  let listener: ((method: string, params: Json) => void) | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (message: Json): void =>
        controller.enqueue(encoder.encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`));
      if (first !== undefined) send(first);
      else controller.enqueue(encoder.encode(":\n\n"));
      listener = (method, params) => send({ method, params: { ...params, _meta: meta } });
      listeners.add(listener);
    },
    cancel: () => void (listener && listeners.delete(listener)),
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** The events of a call, which are sent as they come. */
function streamed(id: number, call: (send: (message: Json) => void) => Promise<Json | undefined>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (message: Json): void => {
        try {
          controller.enqueue(
            encoder.encode(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`),
          );
        } catch {
          // The client has closed the stream.
        }
      };
      send({ method: "notifications/message", params: { level: "info", data: "begun" } });
      const result = await call(send).catch(() => "cut" as const);
      if (result === "cut") return controller.close();
      const { error } = result ?? { error: { code: -32_602, message: "Wrong arguments" } };
      send({ id, ...(error === undefined ? { result } : { error }) });
      // A second answer, which belongs to nothing.
      send({ id, result: { content: [{ type: "text", text: "again" }] } });
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
