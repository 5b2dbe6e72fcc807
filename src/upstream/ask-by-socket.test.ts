import { beforeEach, describe, expect, test } from "bun:test";
import {
  CallAborter,
  HandshakeRefused,
  type SocketSink,
  type UpstreamReply,
  type UpstreamRequest,
  type UpstreamSocket,
} from "../core/index.ts";
import { SocketAsker } from "./ask-by-socket.ts";

/** A socket whose other end a test plays. */
class PlayedSocket implements UpstreamSocket {
  readonly sent: Record<string, unknown>[] = [];
  queuedBytes = 0;
  isCut = false;
  #sink: SocketSink | undefined;

  flowTo(sink: SocketSink): void {
    this.#sink = sink;
  }
  send(message: string): void {
    this.sent.push(JSON.parse(message) as Record<string, unknown>);
  }
  say(event: object): void {
    this.#sink?.onMessage(JSON.stringify(event));
  }
  ping(): void {}
  pause(): void {}
  resume(): void {}
  close(): void {
    this.#sink?.onClose(1000, "");
  }
  terminate(): void {
    this.isCut = true;
    this.#sink?.onClose(1006, "");
  }
}

const overHttp: UpstreamReply = {
  status: 200,
  headers: { get: () => null },
  body: { flowTo: () => undefined, pause: () => undefined, resume: () => undefined, cancel: () => undefined },
};

let sockets: PlayedSocket[];
let refusal: Error | undefined;
let asker: SocketAsker;
beforeEach(() => {
  sockets = [];
  refusal = undefined;
  asker = new SocketAsker({
    openSocket() {
      if (refusal !== undefined) return Promise.reject(refusal);
      const socket = new PlayedSocket();
      sockets.push(socket);
      return Promise.resolve(socket);
    },
    ask: () => Promise.resolve(overHttp),
    openMsMax: 1_000,
  });
});

const aborter = new CallAborter();

function ask(input: string, previousId?: string, signal = aborter): Promise<UpstreamReply> {
  const said = previousId === undefined ? [input] : ["before", input];
  const request: UpstreamRequest = {
    method: "POST",
    url: "http://upstream.test/v1/responses",
    headers: new Headers({ authorization: "Bearer k", "content-type": "application/json" }),
    body: JSON.stringify({ model: "m", input: said, stream: true }),
    signal,
  };
  return asker.askFor(previousId === undefined ? undefined : { previousId, input: [input] })(request);
}

/** Waits for the turn with this number, and answers it. */
async function answer(number: number, ...events: object[]): Promise<void> {
  const sent = (): number => sockets.reduce((sum, socket) => sum + socket.sent.length, 0);
  while (sent() < number) await new Promise<void>((resolve) => void setImmediate(resolve));
  for (const event of events) sockets.at(-1)?.say(event);
}

const completed = (id: string): object[] => [
  { type: "response.created", response: { id } },
  { type: "response.completed", response: { id } },
];

function textOf({ body }: UpstreamReply): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    body.flowTo({
      onBytes: (bytes) => void (text += bytes.toString()),
      onEnd: () => resolve(text),
      onFailure: reject,
    });
  });
}

describe("a turn", () => {
  test("is a message without `stream`, and its reply the events of a stream", async () => {
    const reply = ask("one");
    await answer(1, ...completed("r1"));
    expect(sockets[0]?.sent).toEqual([{ type: "response.create", model: "m", input: ["one"] }]);
    expect((await reply).headers.get("content-type")).toBe("text/event-stream");
    expect(await textOf(await reply)).toBe(
      'event: response.created\ndata: {"type":"response.created","response":{"id":"r1"}}\n\n' +
        'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r1"}}\n\n',
    );
  });

  test("that continues the last one says only what is new", async () => {
    const first = ask("one");
    await answer(1, ...completed("r1"));
    await first;
    const second = ask("two", "r1");
    await answer(2, ...completed("r2"));
    await second;
    expect(sockets[0]?.sent[1]).toMatchObject({ input: ["two"], previous_response_id: "r1" });
    const fork = ask("three", "r1");
    await answer(3, ...completed("r3"));
    await fork;
    expect(sockets[0]?.sent[2]).toEqual({ type: "response.create", model: "m", input: ["before", "three"] });
  });

  test("that the upstream cannot continue is said again as a whole", async () => {
    const first = ask("one");
    await answer(1, ...completed("r1"));
    await first;
    const second = ask("two", "r1");
    await answer(2, { type: "error", status: 400, error: { code: "previous_response_not_found" } });
    await answer(3, ...completed("r2"));
    expect((await second).status).toBe(200);
    expect(sockets[0]?.sent[2]).toMatchObject({ input: ["before", "two"] });
  });

  test("that is refused has the status and the error of its refusal", async () => {
    const reply = ask("one");
    await answer(1, { type: "error", status: 429, error: { code: "rate_limit_exceeded" } });
    expect((await reply).status).toBe(429);
    expect(await textOf(await reply)).toBe('{"error":{"code":"rate_limit_exceeded"}}');
    const next = ask("two");
    await answer(2, ...completed("r2"));
    expect((await next).status).toBe(200);
  });

  test("beside another one goes over HTTP, as do all to an upstream without the WebSocket", async () => {
    const first = ask("one");
    await answer(1);
    expect(await ask("two")).toBe(overHttp);
    await answer(1, ...completed("r1"));
    await first;
    asker.close();
    refusal = new HandshakeRefused(404);
    expect(await ask("three")).toBe(overHttp);
    refusal = undefined;
    expect(await ask("four")).toBe(overHttp);
  });

  test("on a connection that has become too old goes over HTTP, the next one over a new connection", async () => {
    const reply = ask("one");
    await answer(1, { type: "error", status: 400, error: { code: "websocket_connection_limit_reached" } });
    expect(await reply).toBe(overHttp);
    const next = ask("two");
    await answer(2, ...completed("r2"));
    expect((await next).status).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  test("that breaks off fails with its connection, before its reply or in the middle of it", async () => {
    const early = ask("one");
    await answer(1);
    sockets[0]?.terminate();
    expect(await early.catch((error: unknown) => String(error))).toContain("closed the connection");
    const late = ask("two");
    await answer(2, { type: "response.created", response: { id: "r2" } });
    const text = textOf(await late);
    sockets[1]?.terminate();
    expect(await text.catch((error: unknown) => String(error))).toContain("closed the connection");
  });

  test("that is aborted or cancelled cuts its connection, since the upstream would go on", async () => {
    const abort = new CallAborter();
    const aborted = ask("one", undefined, abort);
    await answer(1);
    abort.abort(new Error("gone"));
    expect(await aborted.catch((error: unknown) => String(error))).toContain("gone");
    expect(sockets[0]?.isCut).toBe(true);
    const cancelled = ask("two");
    await answer(2, { type: "response.created", response: { id: "r2" } });
    (await cancelled).body.cancel();
    expect(sockets[1]?.isCut).toBe(true);
  });
});
