import { CallAborter, type Clock, type JsonObject } from "../../core/index.ts";
import { type ClientQuestion, RpcError, rpcCodes } from "../../mcp/index.ts";
import type { ServerRequest } from "./read-messages.ts";

/** Requests of a server that are answered during one call, besides pings. */
const SERVER_REQUESTS_MAX = 100;

/** Pings that are answered at once, and the time after which there is one more. */
const PINGS_MAX = 100;
const PING_MS = 100;

interface ServerQuestionsOptions {
  /** Undefined if the client takes no questions. */
  ask: ((question: ClientQuestion) => Promise<JsonObject>) | undefined;
  /** Sends the answer, a message without its `jsonrpc`. */
  answer: (message: JsonObject) => void;
  clock: Clock;
}

/** The requests of a server of 2025 during one request to it, or on a stream that stays open. Each is answered, since the server waits for that. */
export class ServerQuestions {
  readonly #options: ServerQuestionsOptions;
  readonly #open = new Map<string | number, CallAborter>();
  #left = SERVER_REQUESTS_MAX;
  #pingsLeft = PINGS_MAX;
  #pingedAt: number | undefined;

  constructor(options: ServerQuestionsOptions) {
    this.#options = options;
  }

  readonly onRequest = (request: ServerRequest): void => {
    if (request.method === "ping") return this.#pong(request);
    this.#left -= 1;
    if (this.#left >= 0 && !this.#open.has(request.id)) void this.#answer(request);
  };

  /** Whether the notification is that the server waits for an answer no longer. */
  withdrawn(method: string, { requestId }: JsonObject): boolean {
    if (method !== "notifications/cancelled") return false;
    if (typeof requestId === "string" || typeof requestId === "number") this.#open.get(requestId)?.abort("withdrawn");
    return true;
  }

  /** The server has given its result, or is not waited for. */
  end(): void {
    for (const abort of this.#open.values()) abort.abort("over");
  }

  /** Servers ping for as long as a stream is open: only those beyond a rate have no answer. */
  #pong({ id }: ServerRequest): void {
    const { answer, clock } = this.#options;
    const now = clock();
    const since = Math.max(now - (this.#pingedAt ?? now), 0);
    this.#pingedAt = now;
    this.#pingsLeft = Math.min(this.#pingsLeft + since / PING_MS, PINGS_MAX);
    if (this.#pingsLeft < 1) return;
    this.#pingsLeft -= 1;
    answer({ id, result: {} });
  }

  async #answer({ id, method, params }: ServerRequest): Promise<void> {
    const { ask, answer } = this.#options;
    if (ask === undefined) return answer({ id, error: refusalOf("The client has no such method.") });
    const abort = new CallAborter();
    this.#open.set(id, abort);
    try {
      const result = await ask({ method, params, signal: abort });
      if (!abort.aborted) answer({ id, result });
    } catch (thrown) {
      const error =
        thrown instanceof RpcError
          ? { code: thrown.code, message: thrown.message }
          : refusalOf("The client cannot be asked.");
      if (!abort.aborted) answer({ id, error });
    } finally {
      this.#open.delete(id);
    }
  }
}

function refusalOf(message: string): JsonObject {
  return { code: rpcCodes.methodNotFound, message };
}
