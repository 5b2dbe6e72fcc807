/** Open WebSockets on a real server. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Sending, Socket, SocketHandler } from "../../core/index.ts";
import { Recorder, shakeHands, SocketServer } from "./__fixtures__/socket-server.ts";

let server: SocketServer;
/** The route's use of a socket. */
let recorder: Recorder;
beforeEach(async () => {
  server = await SocketServer.start();
  recorder = new Recorder();
  server.answerWith(() => ({ socket: recorder }));
});
afterEach(() => server.stop());

describe("a socket", () => {
  test("carries texts and bytes in both directions, in order", async () => {
    const client = server.connect();
    await client.opened;
    const bytes = new Uint8Array([0, 255, 1]);
    for (const message of ["Grüße", bytes, "", "last"]) client.socket.send(message);
    expect(await client.receive(4)).toEqual(["Grüße", bytes.buffer, "", "last"]);
  });

  test("reports the fate of each message, also of an empty one", async () => {
    const client = server.connect();
    const socket = await recorder.opened.promise;
    const sendings: Sending[] = [socket.send("x"), socket.send(""), socket.send(new Uint8Array())];
    expect(sendings).toEqual(["sent", "sent", "sent"]);
    await client.receive(3);
    socket.close(1000);
    expect([socket.send("x"), socket.send("")]).toEqual(["lost", "lost"]);
    expect(await client.closed).toEqual([1000, ""]);
    expect(client.received).toHaveLength(3);
  });

  test("has the request that it came from", async () => {
    server.answerWith(({ principal, pathParameter, request }) => {
      const greeting = `${principal.user} ${pathParameter("name")} ${new URL(request.url).search}`;
      return { socket: { open: (socket) => void socket.send(greeting), message: ignore, close: ignore } };
    });
    const client = server.connect({ path: "/v1/sockets/two?model=x" });
    expect(await client.receive(1)).toEqual(["alice two ?model=x"]);
  });

  test("pings its client", async () => {
    const client = server.connect();
    const pinged = Promise.withResolvers<unknown>();
    client.socket.addEventListener("ping", pinged.resolve);
    (await recorder.opened.promise).ping();
    await pinged.promise;
  });

  test.each<[string, number, string]>([
    ["with nothing to say", 1000, ""],
    ["for a reason of its own", 4001, "no more credits"],
  ])("is closed by its route %s", async (_, code, reason) => {
    const client = server.connect();
    await client.opened;
    (await recorder.opened.promise).close(code, reason);
    expect(await client.closed).toEqual([code, reason]);
    expect(await recorder.closed.promise).toEqual([code, reason]);
    expect(recorder.closings).toBe(1);
  });

  test("is closed by its client", async () => {
    const client = server.connect();
    await client.opened;
    client.socket.close(4002, "bye");
    expect(await recorder.closed.promise).toEqual([4002, "bye"]);
    expect(recorder.closings).toBe(1);
  });

  test("ends with 1006 if its client disconnects without closing", async () => {
    const { head, leave } = shakeHands(server);
    await head;
    leave();
    expect(await recorder.closed.promise).toEqual([1006, ""]);
  });

  test("accepts no message over the limit", async () => {
    const client = server.connect();
    await client.opened;
    client.socket.send("x".repeat(16 * 1024 * 1024 + 1));
    expect((await client.closed)[0]).toBe(1009);
    await recorder.closed.promise;
    expect(client.received).toEqual([]);
  });
});

describe("a client that does not read", () => {
  const piece = "x".repeat(1024 * 1024);

  // Nothing is read during a loop: client and server share an event loop.

  test("makes messages wait, and its route is notified when it reads again", async () => {
    const client = server.connect();
    const socket = await recorder.opened.promise;
    await client.opened;
    let pieces = 1;
    while (socket.send(piece) === "sent") pieces += 1;
    expect(socket.send("the end")).toBe("waiting");
    await recorder.drained.promise;
    const received = await client.receive(pieces + 1);
    expect(received.slice(0, -1).every((message) => message === piece)).toBe(true);
    expect(received.at(-1)).toBe("the end");
    expect(socket.send("on it goes")).toBe("sent");
  });

  test("is disconnected when too many bytes wait for it", async () => {
    const client = server.connect();
    const socket = await recorder.opened.promise;
    await client.opened;
    const sendings: Sending[] = [];
    while (sendings.at(-1) !== "lost") sendings.push(socket.send(piece));
    const waiting = sendings.filter((sending) => sending === "waiting").length;
    expect(waiting).toBeGreaterThanOrEqual(16);
    expect(waiting).toBeLessThanOrEqual(18);
    expect((await recorder.closed.promise)[0]).toBe(1006);
    expect((await client.closed)[0]).toBe(1006);
  });
});

const ignore = (): void => undefined;

describe("a route that fails", () => {
  const said = "what the client said";
  const fail = (): never => {
    throw new TypeError(`not ${said}`);
  };

  const failures = () => server.log.filter(({ level }) => level === 50);

  test.each<[string, Partial<SocketHandler>]>([
    ["when its socket opens", { open: fail }],
    ["at a message", { message: fail }],
    ["some time after a message", { message: () => Promise.resolve().then(fail) }],
  ])("%s has the socket closed, and the log does not contain the message", async (_, failing) => {
    const close = (code: number, reason: string): void => void recorder.close(code, reason);
    server.answerWith(() => ({ socket: { open: ignore, message: ignore, close, ...failing } }));
    const client = server.connect();
    client.socket.addEventListener("open", () => client.socket.send(said));
    const ended: [number, string] = [1011, "The gateway failed."];
    expect(await client.closed).toEqual(ended);
    expect(await recorder.closed.promise).toEqual(ended);
    expect(failures()).toHaveLength(1);
    expect(JSON.stringify(server.log)).not.toContain(said);
    expect(failures()[0]).toMatchObject({
      level: 50,
      request_id: expect.stringMatching(/^req_[0-9a-z]{25}$/) as unknown,
      error: "internal_error",
      kind: "TypeError",
      stack: expect.stringContaining("sockets.test.ts") as unknown,
      msg: "socket failed",
    });
  });

  test("at the end of its socket delays nothing", async () => {
    server.answerWith(() => ({ socket: { open: ignore, message: ignore, close: fail } }));
    const client = server.connect();
    await client.opened;
    client.socket.close(1000);
    await client.closed;
    await server.drain();
    expect(failures()).toHaveLength(1);
    expect(JSON.stringify(server.log)).not.toContain(said);
    expect(failures()[0]).toMatchObject({ level: 50, kind: "TypeError", msg: "socket failed" });
  });
});

describe("a stopping server", () => {
  test("closes the sockets that are still open at its bound, and waits for their handlers", async () => {
    const stopping = await SocketServer.start({ drainMsMax: 50 });
    const events: string[] = [];
    stopping.answerWith(() => ({
      socket: {
        open: (socket: Socket) => void socket.send("open"),
        message: ignore,
        async close(code, reason) {
          events.push(`${code} ${reason}`);
          // Work that takes longer than the server's polling interval.
          await Bun.sleep(100);
          events.push("ended");
        },
      },
    }));
    const client = stopping.connect();
    await client.receive(1);
    const drained = stopping.drain().then(() => events.push("drained"));
    expect((await stopping.get("/v1/sockets/one", { upgrade: "websocket" })).status).toBe(503);
    expect(await client.closed).toEqual([1012, "The server is going down."]);
    await drained;
    expect(events).toEqual(["1012 The server is going down.", "ended", "drained"]);
    await stopping.stop();
  });

  test("lets a socket continue that ends by itself, and then stops", async () => {
    const client = server.connect();
    await client.opened;
    const stopped = server.drain();
    client.socket.send("still there?");
    expect(await client.receive(1)).toEqual(["still there?"]);
    client.socket.close(4000, "done");
    expect(await recorder.closed.promise).toEqual([4000, "done"]);
    expect(await stopped).toBe(0);
  });
});
