import { describe, expect, test } from "bun:test";
import { failureOf } from "../../test/kit/failure-of.ts";
import { clientOf, type Peer, Reading, RawUpstream, replyOf, requestTo, textOf } from "./__fixtures__/raw-upstream.ts";

const ok = ({ send }: Peer): void => send(replyOf("ok"));

/** Sends two requests, one after the other. */
async function askTwice(upstream: RawUpstream, client = clientOf()): Promise<void> {
  using closing = client;
  for (const _ of [1, 2]) await textOf(await closing.ask(requestTo(upstream.url(), { body: "x" })));
}

describe("a connection", () => {
  test("carries one request after the other, and one at a time", async () => {
    using upstream = new RawUpstream(ok);
    using client = clientOf();
    const ask = async (): Promise<string> => textOf(await client.ask(requestTo(upstream.url())));
    await Promise.all([ask(), ask(), ask()]);
    expect(upstream.connections).toBe(3);
    for (let round = 0; round < 5; round += 1) await Promise.all([ask(), ask(), ask()]);
    expect(upstream.connections).toBe(3);
    expect(upstream.requests).toHaveLength(18);
  });

  test("can be reused within the end of its reply", async () => {
    using upstream = new RawUpstream(ok);
    using client = clientOf();
    const { body } = await client.ask(requestTo(upstream.url()));
    const next = Promise.withResolvers<string>();
    body.flowTo({
      onBytes: () => undefined,
      onEnd: () => next.resolve(client.ask(requestTo(upstream.url())).then(textOf)),
      onFailure: next.reject,
    });
    expect(await next.promise).toBe("ok");
    expect(upstream.connections).toBe(1);
  });

  test("is not reused by a reader that is notified of its end late", async () => {
    using upstream = new RawUpstream(({ send, text }) => send(replyOf(text.slice(-1))));
    using client = clientOf();
    const first = await client.ask(requestTo(upstream.url(), { body: "1" }));
    const second = await client.ask(requestTo(upstream.url(), { body: "2" }));
    expect(upstream.connections).toBe(1);
    // All of the first had arrived before the second was sent: it no longer concerns the connection.
    first.body.pause();
    first.body.cancel();
    expect(await textOf(second)).toBe("2");
    expect(await textOf(await client.ask(requestTo(upstream.url(), { body: "3" })))).toBe("3");
    expect(upstream.connections).toBe(1);
  });

  const unusable: Record<string, (peer: Peer) => void> = {
    "after connection: close": ({ send }) => send(replyOf("ok", "connection: close")),
    "after HTTP/1.0": ({ send }) => send("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok"),
    "after bytes behind a reply": ({ send }) =>
      send(`${replyOf("ok")}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`),
    "after bytes behind chunks": ({ send }) =>
      send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP"),
    "after a reply framed in two ways": ({ send }) =>
      send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    "that is kept for a second": ({ send }) => send(replyOf("ok", "keep-alive: timeout=1")),
  };
  for (const [when, answer] of Object.entries(unusable)) {
    test(`is not reused ${when}`, async () => {
      using upstream = new RawUpstream(answer);
      await askTwice(upstream);
      expect(upstream.connections).toBe(2);
      await upstream.until(() => upstream.closed === 2);
    });
  }

  test("is not reused if the reply came before the request was sent completely", async () => {
    const early = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          // Reads nothing, so that most of the request stays with the client.
          socket.pause();
          socket.write(replyOf("too large"));
        },
        data: () => undefined,
        close: () => closed.resolve(),
        error: () => undefined,
      },
    });
    const closed = Promise.withResolvers<void>();
    using client = clientOf();
    const body = Buffer.alloc(64 * 1024 * 1024);
    const reply = await client.ask(requestTo(`http://127.0.0.1:${early.port}/`, { body }));
    expect(await textOf(reply)).toBe("too large");
    await closed.promise;
    early.stop(true);
  });

  test("is closed if unrequested bytes arrive", async () => {
    const first = Promise.withResolvers<Peer>();
    using upstream = new RawUpstream((peer) => {
      peer.send(replyOf("ok"));
      first.resolve(peer);
    });
    using client = clientOf();
    await textOf(await client.ask(requestTo(upstream.url())));
    (await first.promise).send(replyOf("evil"));
    await upstream.until(() => upstream.closed === 1);
    expect(await textOf(await client.ask(requestTo(upstream.url())))).toBe("ok");
    expect(upstream.connections).toBe(2);
  });

  test("is kept no longer than announced by the upstream or configured in the client", async () => {
    using upstream = new RawUpstream(({ send, connection }) =>
      send(connection === 1 ? replyOf("ok", "keep-alive: timeout=5") : replyOf("ok")),
    );
    let now = 0;
    using client = clientOf({ clock: () => now, idleMsMax: 60_000 });
    const connections = async (at: number): Promise<number> => {
      now = at;
      await textOf(await client.ask(requestTo(upstream.url())));
      return upstream.connections;
    };
    expect(await connections(0)).toBe(1);
    expect(await connections(3_999)).toBe(1);
    // A second less than announced, so that no request is sent at the moment of the close.
    expect(await connections(7_999)).toBe(2);
    expect(await connections(67_998)).toBe(2);
    expect(await connections(127_998)).toBe(3);
  });

  test("that is idle for long is closed by itself", async () => {
    using upstream = new RawUpstream(ok);
    using client = clientOf({ idleMsMax: 20 });
    await textOf(await client.ask(requestTo(upstream.url())));
    await upstream.until(() => upstream.closed === 1);
  });

  test("beyond the bound of idle ones is closed", async () => {
    const peers: Peer[] = [];
    using upstream = new RawUpstream((peer) => {
      peers.push(peer);
      if (peers.length === 3) for (const { send } of peers) send(replyOf("ok"));
    });
    using client = clientOf({ idleConnectionsMax: 2 });
    const ask = async (): Promise<string> => textOf(await client.ask(requestTo(upstream.url())));
    await Promise.all([ask(), ask(), ask()]);
    await upstream.until(() => upstream.closed === 1);
  });

  test("is closed with the client, at once or at the end of its reply", async () => {
    const busy = Promise.withResolvers<Peer>();
    using upstream = new RawUpstream((peer) => {
      if (peer.text.endsWith("wait")) busy.resolve(peer);
      else peer.send(replyOf("ok"));
    });
    const client = clientOf();
    const ask = async (body: string): Promise<string> => textOf(await client.ask(requestTo(upstream.url(), { body })));
    const waiting = ask("wait");
    const peer = await busy.promise;
    await ask("");
    client.close();
    await upstream.until(() => upstream.closed === 1);
    peer.send(replyOf("late"));
    expect(await waiting).toBe("late");
    await upstream.until(() => upstream.closed === 2);
  });

  test("that is idle does not keep the process alive", async () => {
    using upstream = new RawUpstream(ok);
    const script = `
      import { UpstreamClient } from "${import.meta.dir}/index.ts";
      const client = new UpstreamClient({ fallback: () => Promise.reject(), clock: Date.now, variables: {} });
      const signal = new AbortController().signal;
      const reply = await client.ask({ method: "GET", url: "${upstream.url()}", headers: new Headers(), signal });
      reply.body.flowTo({ onBytes: (bytes) => console.log(bytes.toString()), onEnd() {}, onFailure() {} });
    `;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toBe("ok\n");
    expect(await child.exited).toBe(0);
  });
});

describe("a connection that closes without a byte", () => {
  const closings: Record<string, (peer: Peer) => void> = {
    end: ({ socket }) => socket.end(),
    reset: ({ socket }) => socket.terminate(),
  };
  for (const [how, close] of Object.entries(closings)) {
    test(`by ${how}, if it was idle: a GET is sent again, once, on a new one`, async () => {
      using upstream = new RawUpstream((peer) => {
        if (peer.connection === 1 && peer.request === 2) close(peer);
        else peer.send(replyOf("ok"));
      });
      using client = clientOf();
      for (const _ of [1, 2]) await textOf(await client.ask(requestTo(upstream.url(), { method: "GET" })));
      expect(upstream.connections).toBe(2);
      expect(upstream.requests).toHaveLength(3);
    });

    test(`by ${how}, if it was new: rejects`, async () => {
      using upstream = new RawUpstream((peer) => {
        if (peer.connection === 1 && peer.request === 1) peer.send(replyOf("ok"));
        else close(peer);
      });
      using client = clientOf();
      await textOf(await client.ask(requestTo(upstream.url(), { method: "GET" })));
      expect(await failureOf(client.ask(requestTo(upstream.url(), { method: "GET" })))).toBeInstanceOf(Error);
      expect(upstream.requests).toHaveLength(3);
    });

    test.each(["POST", "DELETE"] as const)(
      `by ${how}, if it was idle: a %s is not sent again, since it may have been read`,
      async (method) => {
        using upstream = new RawUpstream((peer) => (peer.request === 2 ? close(peer) : peer.send(replyOf("ok"))));
        using client = clientOf();
        await textOf(await client.ask(requestTo(upstream.url(), { method })));
        const sent: boolean[] = [];
        const request = requestTo(upstream.url(), { method, onSent: (isSent) => sent.push(isSent) });
        expect(await failureOf(client.ask(request))).toBeInstanceOf(Error);
        expect([upstream.requests.length, sent]).toEqual([2, [true]]);
      },
    );
  }

  test("while it was idle is not used", async () => {
    const first = Promise.withResolvers<Peer>();
    using upstream = new RawUpstream((peer) => {
      peer.send(replyOf("ok"));
      first.resolve(peer);
    });
    using client = clientOf();
    await textOf(await client.ask(requestTo(upstream.url())));
    (await first.promise).socket.end();
    await upstream.until(() => upstream.closed === 1);
    // The client's side reads its sockets between two turns.
    for (const _ of [1, 2]) await new Promise((resolve) => setImmediate(resolve));
    expect(await textOf(await client.ask(requestTo(upstream.url())))).toBe("ok");
    expect(upstream.connections).toBe(2);
  });

  test("before it took a byte of the request: that is sent again, once", async () => {
    // A process of its own, so that both of its events arrive while this one does not look.
    const script = `
      let signal;
      const write = (socket, text) => socket.write("HTTP/1.1 200 OK\\r\\ncontent-length: " + text.length + "\\r\\n\\r\\n" + text);
      let requests = 0;
      const { port } = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: {
        data(socket, bytes) {
          const text = bytes.toString();
          if (text.startsWith("signal")) { signal = socket; return; }
          requests += 1;
          write(socket, String(requests));
          if (requests > 1) return;
          setTimeout(() => signal.write("wait"), 20);
          setTimeout(() => { signal.write("go"); socket.terminate(); }, 100);
        },
      } });
      console.log(port);
    `;
    await using child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
    const { value } = await child.stdout.getReader().read();
    const port = Number(Buffer.from(value ?? []).toString());
    using client = clientOf();
    const sent: boolean[] = [];
    const asked = Promise.withResolvers<string>();
    const url = `http://127.0.0.1:${port}/`;
    const signal = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data(_socket, bytes) {
          // The signal and the end of the idle connection then arrive together, in this order.
          if (bytes.toString() === "wait") return Bun.sleepSync(300);
          const request = requestTo(url, { onSent: (isSent) => sent.push(isSent) });
          client.ask(request).then(textOf).then(asked.resolve, asked.reject);
        },
      },
    });
    signal.write("signal");
    await textOf(await client.ask(requestTo(url)));
    expect(await asked.promise).toBe("2");
    expect(sent).toEqual([true, false, true]);
    signal.end();
  });

  test("after a byte of the reply is not retried", async () => {
    using upstream = new RawUpstream(({ send, request, socket }) => {
      send(request === 1 ? replyOf("ok") : "HTTP/1.1 100 Continue\r\n\r\n");
      if (request === 2) socket.end();
    });
    using client = clientOf();
    await textOf(await client.ask(requestTo(upstream.url())));
    expect(await failureOf(client.ask(requestTo(upstream.url())))).toBeInstanceOf(Error);
    expect(upstream.requests).toHaveLength(2);
  });
});

describe("an abort", () => {
  test("before the call opens no connection", async () => {
    using upstream = new RawUpstream(ok);
    using client = clientOf();
    const reason = new Error("gone");
    expect(await failureOf(client.ask(requestTo(upstream.url(), { signal: AbortSignal.abort(reason) })))).toBe(reason);
    expect(upstream.connections).toBe(0);
  });

  test("while connecting ends it before anything is sent", async () => {
    using upstream = new RawUpstream(ok);
    using client = clientOf();
    const abort = new AbortController();
    const asked = client.ask(requestTo(upstream.url(), { signal: abort.signal }));
    const reason = new Error("gone");
    abort.abort(reason);
    expect(await failureOf(asked)).toBe(reason);
    await upstream.until(() => upstream.closed === 1);
    expect(upstream.receivedBytes).toBe(0);
  });

  test("while waiting for the reply closes the connection", async () => {
    const asked = Promise.withResolvers<void>();
    using upstream = new RawUpstream(() => asked.resolve());
    using client = clientOf();
    const abort = new AbortController();
    const reply = client.ask(requestTo(upstream.url(), { signal: abort.signal }));
    await asked.promise;
    const reason = new Error("gone");
    abort.abort(reason);
    expect(await failureOf(reply)).toBe(reason);
    await upstream.until(() => upstream.closed === 1);
  });

  test("within the body, read or not, passes its reason to the reader", async () => {
    using upstream = new RawUpstream(({ send }) => send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello"));
    using client = clientOf();
    for (const isRead of [true, false]) {
      const abort = new AbortController();
      const { body } = await client.ask(requestTo(upstream.url(), { signal: abort.signal }));
      const early = isRead ? Reading.of(body) : undefined;
      const reason = new Error("gone");
      abort.abort(reason);
      const reading = early ?? Reading.of(body);
      expect([reading.state, reading.failure, reading.text]).toEqual(["failed", reason, "hello"]);
    }
    await upstream.until(() => upstream.closed === 2);
  });

  test("after the reply affects neither it nor the next request on the connection", async () => {
    const second = Promise.withResolvers<Peer>();
    using upstream = new RawUpstream((peer) => (peer.request === 1 ? peer.send(replyOf("one")) : second.resolve(peer)));
    using client = clientOf();
    const abort = new AbortController();
    const first = await client.ask(requestTo(upstream.url(), { signal: abort.signal }));
    const next = client.ask(requestTo(upstream.url()));
    const peer = await second.promise;
    abort.abort(new Error("gone"));
    expect(await textOf(first)).toBe("one");
    peer.send(replyOf("two"));
    expect(await textOf(await next)).toBe("two");
    expect(upstream.connections).toBe(1);
  });
});

describe("a cancel", () => {
  test("closes the connection if more data was expected", async () => {
    using upstream = new RawUpstream(({ send }) => send("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhello"));
    using client = clientOf();
    const { body } = await client.ask(requestTo(upstream.url()));
    const reading = Reading.of(body);
    body.cancel();
    await upstream.until(() => upstream.closed === 1);
    expect([reading.state, reading.text]).toEqual(["open", "hello"]);
  });

  test("within a piece makes it the reader's last", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("hello")));
    using client = clientOf();
    const { body } = await client.ask(requestTo(upstream.url()));
    const told: string[] = [];
    body.flowTo({
      onBytes: () => {
        told.push("bytes");
        body.cancel();
      },
      onEnd: () => told.push("end"),
      onFailure: () => told.push("failure"),
    });
    expect(told).toEqual(["bytes"]);
    // Its reply had ended: the connection serves the next request.
    await textOf(await client.ask(requestTo(upstream.url())));
    expect(upstream.connections).toBe(1);
  });
});
