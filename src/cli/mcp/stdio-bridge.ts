/**
 * Messages of a client that speaks over stdio, one a line, passed to a gateway over HTTP and back. The gateway does all of
 * the work: this process only knows which request is under way, so that closing it cancels it there.
 */
import { type JsonObject, objectOf, parseObject } from "../../core/index.ts";
import { clientHeaders, errorText, RpcError, rpcCodes, type RpcId } from "../../mcp/index.ts";
import { dataOf, EVENT_STREAM, EventSplitter, eventsOf, linesOf } from "../../streaming/index.ts";

/** Bytes of a message in either direction. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;

const INTERNAL_ERROR = -32_603;

/** Before the stream of changes is opened again; longer each time, as long as that fails. */
const PAUSE_MS_MIN = 500;
const PAUSE_MS_MAX = 60_000;

/** Statuses of a gateway that has no stream of changes for the session. */
const NO_STREAM: ReadonlySet<number> = new Set([400, 401, 403, 404, 405]);

export interface StdioBridgeOptions {
  /** The URL of the MCP server. */
  url: string;
  token: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Sends a message to the client. */
  write: (line: string) => void;
}

/** A message of the client. */
interface Message {
  line: string;
  id: RpcId | undefined;
  method: string;
  params: JsonObject;
}

export class StdioBridge {
  readonly #options: StdioBridgeOptions;
  readonly #underWay = new Map<string, AbortController>();
  /** Of a client of 2025: its session, and the revision on which it has agreed. */
  #session: Record<string, string> = {};
  /** Aborted when the client has closed its side. */
  readonly #over = new AbortController();
  readonly #following = new Set<Promise<void>>();

  constructor(options: StdioBridgeOptions) {
    this.#options = options;
  }

  /** Resolves when the client has closed its side; open requests are cancelled then. */
  async run(input: ReadableStream<Uint8Array>): Promise<void> {
    const sent = new Set<Promise<void>>();
    for await (const line of linesOf(input)) {
      const sending = this.#receive(line).finally(() => sent.delete(sending));
      sent.add(sending);
    }
    this.#over.abort();
    for (const abort of this.#underWay.values()) abort.abort();
    await Promise.all([...sent, ...this.#following]);
    await this.#endSession();
  }

  async #receive(line: string): Promise<void> {
    if (line.trim() === "") return;
    const read = parseObject(line);
    const { id, method } = read ?? {};
    if (typeof method !== "string") {
      // An answer to a question of the server goes on as it is; anything else is refused here, without an id to answer to.
      if (read === undefined)
        this.#options.write(errorText(undefined, new RpcError(rpcCodes.parseError, "The line is not JSON.")));
      else await this.#send({ line, id: undefined, method: "", params: {} });
      return;
    }
    const params = objectOf(read?.["params"]) ?? {};
    const known = typeof id === "string" || typeof id === "number" ? id : undefined;
    const message: Message = { line, id: known, method, params };
    // Over HTTP, a client of the stateless era cancels by closing the request.
    const isStateless = Object.keys(clientHeaders(message)).length > 0 || Object.keys(this.#session).length === 0;
    if (method === "notifications/cancelled" && isStateless) this.#underWay.get(keyOf(params["requestId"]))?.abort();
    else await this.#send(message);
  }

  async #send(message: Message): Promise<void> {
    const { url, token, fetch } = this.#options;
    const { id, line } = message;
    const abort = new AbortController();
    if (id !== undefined) this.#underWay.set(keyOf(id), abort);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...this.#session,
          ...clientHeaders(message),
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: `application/json, ${EVENT_STREAM}`,
        },
        body: line,
        signal: abort.signal,
        redirect: "manual",
      });
      await this.#relay(message, response);
      const isReady = message.method === "notifications/initialized" && response.ok;
      if (isReady && this.#session["mcp-session-id"] !== undefined) this.#following.add(this.#follow());
    } catch (reason) {
      if (!abort.signal.aborted) this.#fail(id, `The gateway at ${url} does not answer: ${textOf(reason)}`);
    } finally {
      if (id !== undefined) this.#underWay.delete(keyOf(id));
    }
  }

  async #relay(message: Message, response: Response): Promise<void> {
    const { id } = message;
    if (response.headers.get("content-type")?.startsWith(EVENT_STREAM) === true) {
      await this.#relayEvents(message, response);
      return;
    }
    const text = await response.text();
    const answer = parseObject(text);
    if (response.ok && message.method === "initialize") this.#begin(response, answer);
    if (answer?.["jsonrpc"] === "2.0" && answer["id"] === (id ?? null) && id !== undefined) return this.#write(text);
    // A refusal before the message was read: its error has no id yet.
    const error = objectOf(answer?.["error"])?.["message"];
    if (id === undefined) return;
    this.#fail(id, typeof error === "string" ? error : `The gateway answered with ${response.status}.`);
  }

  async #relayEvents({ id }: Message, response: Response): Promise<void> {
    const splitter = new EventSplitter(MESSAGE_BYTES_MAX);
    let isAnswered = id === undefined;
    const pass = (block: Buffer): void => {
      for (const event of eventsOf(block)) {
        const data = dataOf(event);
        if (data === undefined || data === "") continue;
        isAnswered ||= parseObject(data)?.["id"] === id;
        this.#write(data);
      }
    };
    const body: AsyncIterable<Uint8Array> | undefined = response.body ?? undefined;
    if (body !== undefined) for await (const chunk of body) pass(splitter.push(chunk));
    pass(splitter.rest());
    if (!isAnswered && this.#underWay.get(keyOf(id))?.signal.aborted === false) {
      this.#fail(id, "The gateway closed the stream before its response.");
    }
  }

  /** The changes for the client of a session, as long as the gateway has any at this URL. */
  async #follow(): Promise<void> {
    const { url, token, fetch } = this.#options;
    const { signal } = this.#over;
    const headers = { ...this.#session, authorization: `Bearer ${token}`, accept: EVENT_STREAM };
    for (let pauseMs = PAUSE_MS_MIN; !signal.aborted; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      const response = await fetch(url, { headers, signal, redirect: "manual" }).catch(() => undefined);
      // There is no such stream, or the session is over.
      if (response !== undefined && NO_STREAM.has(response.status)) return;
      if (response?.ok === true) {
        pauseMs = PAUSE_MS_MIN / 2;
        await this.#passEvents(response).catch(() => undefined);
      }
      await pause(pauseMs, signal);
    }
  }

  async #passEvents(response: Response): Promise<void> {
    await this.#relayEvents({ line: "", id: undefined, method: "", params: {} }, response);
  }

  /** Further messages of the client belong to the session that the gateway has begun. */
  #begin(response: Response, answer: JsonObject | undefined): void {
    const session = response.headers.get("mcp-session-id");
    const revision = objectOf(answer?.["result"])?.["protocolVersion"];
    this.#session = {
      ...(session !== null && { "mcp-session-id": session }),
      ...(typeof revision === "string" && { "mcp-protocol-version": revision }),
    };
  }

  async #endSession(): Promise<void> {
    if (this.#session["mcp-session-id"] === undefined) return;
    const { url, token, fetch } = this.#options;
    const headers = { ...this.#session, authorization: `Bearer ${token}` };
    await fetch(url, { method: "DELETE", headers }).catch(() => undefined);
  }

  #fail(id: RpcId | undefined, message: string): void {
    if (id !== undefined) this.#options.write(errorText(id, new RpcError(INTERNAL_ERROR, message)));
  }

  /** A message over stdio has no line ends. */
  #write(message: string): void {
    this.#options.write(message.includes("\n") ? JSON.stringify(JSON.parse(message)) : message);
  }
}

/** Resolves when the time is over, or nobody waits any more. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => (clearTimeout(timer), resolve()));
  if (signal.aborted) resolve();
  return promise;
}

function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? "";
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
