/** The Responses API over a WebSocket: each message is a request, and the events of its stream are the messages. */
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocket } from "ws";
import { FaultSpecError, noFaults, parseFaults, splitModel } from "../faults.ts";
import { identityOf } from "../identity.ts";
import { asObject, isObject, type JsonObject, parseJson, stringOr } from "../json.ts";
import { KeptAnswers, type KeptAnswer } from "../kept-answers.ts";
import { textOf } from "../realtime/open-sockets.ts";
import type { Answer, Call, ProviderErrors, Route, SocketCall, SocketRoute } from "../types.ts";

/** Answers that only this connection remembers, before those that the provider keeps. */
class ConnectionAnswers extends KeptAnswers {
  readonly #provider: KeptAnswers;

  constructor(provider: KeptAnswers) {
    super();
    this.#provider = provider;
  }

  override get(id: string): KeptAnswer | undefined {
    return super.get(id) ?? this.#provider.get(id);
  }
}

interface SocketParts {
  readonly routes: readonly Route[];
  readonly errors: ProviderErrors;
}

/** The WebSocket at the path of a provider's route for creating responses. */
export function responsesSocket(path: string, { routes, errors }: SocketParts): SocketRoute {
  const route = routes.find((one) => one.method === "POST" && one.path === path);
  if (route === undefined) throw new Error(`no route for ${path}`);
  return {
    path,
    open(socket, call, name) {
      const own = new ConnectionAnswers(call.kept);
      let turns = Promise.resolve();
      let count = 0;
      socket.on("message", (data) => {
        count += 1;
        const turn = { text: textOf(data), name: `${name}.${count}` };
        turns = turns.then(() => answer({ socket, call, route, errors, own }, turn));
      });
    },
  };
}

interface Connection {
  readonly socket: WebSocket;
  readonly call: SocketCall;
  readonly route: Route;
  readonly errors: ProviderErrors;
  readonly own: KeptAnswers;
}

async function answer(connection: Connection, { text, name }: { text: string; name: string }): Promise<void> {
  const { socket, call, route, errors, own } = connection;
  const send = (event: string): void => {
    if (socket.readyState === socket.OPEN) socket.send(event);
  };
  const fail = (status: number, body: unknown): void =>
    send(JSON.stringify({ type: "error", status, ...asObject(body) }));
  const message = parseJson(text);
  if (!isObject(message) || message["type"] !== "response.create") {
    fail(400, {
      error: { type: "invalid_request_error", code: null, message: "Only response.create is known.", param: "type" },
    });
    return;
  }
  const { type: _type, model: named, ...rest } = message;
  const { model, spec } = splitModel(stringOr(named, ""));
  try {
    const faults = spec === null ? noFaults : parseFaults(spec);
    await sleep(faults.slowMs);
    if (faults.status !== null) {
      const refusal = errors.forStatus(faults.status);
      fail(refusal.status, refusal.body);
      return;
    }
    const isStored = rest["store"] !== false;
    // Without `store`, the response is kept for the connection alone.
    const body: JsonObject = { ...rest, model, stream: true, store: true };
    const request: Call = {
      method: "POST",
      path: route.path,
      parameters: {},
      query: new URLSearchParams(),
      headers: call.headers,
      body,
      form: null,
      bytes: Buffer.from(JSON.stringify(body)),
      identity: identityOf(name, text),
      faults,
      kept: isStored ? call.kept : own,
    };
    await deliver(route.handle(request), { send, fail, isStored, paceMs: faults.paceMs, socket });
  } catch (error) {
    if (!(error instanceof FaultSpecError)) throw error;
    fail(400, { error: { message: error.message, type: "simulator_error" } });
  }
}

interface Delivery {
  readonly send: (event: string) => void;
  readonly fail: (status: number, body: unknown) => void;
  readonly isStored: boolean;
  readonly paceMs: number;
  readonly socket: WebSocket;
}

async function deliver(given: Answer, { send, fail, isStored, paceMs, socket }: Delivery): Promise<void> {
  if (given.kind === "json") {
    // Codes of its own in this protocol.
    const body = asObject(given.body);
    const error = asObject(body["error"]);
    const isUnknown = error["param"] === "previous_response_id";
    fail(
      isUnknown ? 400 : given.status,
      isUnknown ? { error: { ...error, code: "previous_response_not_found" } } : body,
    );
    return;
  }
  if (given.kind !== "stream") throw new Error(`an answer of the kind ${given.kind}`);
  for (const frame of given.frames) {
    if ("comment" in frame || frame.data === "[DONE]") continue;
    send(isStored ? frame.data : frame.data.replace('"store":true', '"store":false'));
    if (paceMs > 0) await sleep(paceMs);
    if (socket.readyState !== socket.OPEN) return;
  }
}
