import { describe, expect, test } from "bun:test";
import { failureOf } from "../../test/kit/failure-of.ts";
import { clientOf, Reading, RawUpstream, replyOf, requestTo, textOf } from "./__fixtures__/raw-upstream.ts";
import { BadReply } from "./bad-reply.ts";

describe("a request", () => {
  test("is written as HTTP/1.1, with its length", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")));
    using client = clientOf();
    const headers = new Headers({ authorization: "Bearer k", "x-a": "ä", host: "elsewhere", connection: "close" });
    const request = requestTo(upstream.url(), { headers, body: "süß" });
    expect(await textOf(await client.ask(request))).toBe("ok");
    const { host } = new URL(upstream.url());
    const lines = ["authorization: Bearer k", "x-a: \xe4", "accept-encoding: identity", "content-length: 5"];
    expect(upstream.requests).toEqual([
      `POST /path?query HTTP/1.1\r\nhost: ${host}\r\n${lines.join("\r\n")}\r\n\r\n${Buffer.from("süß").toString("latin1")}`,
    ]);
  });

  test("without a body has a length if its method implies one", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")));
    using client = clientOf();
    for (const method of ["GET", "DELETE", "POST"] as const) {
      await textOf(await client.ask(requestTo(upstream.url(), { method })));
    }
    expect(upstream.requests.map((text) => text.includes("content-length: 0"))).toEqual([false, false, true]);
  });

  test("of megabytes arrives whole, as text and as bytes", async () => {
    using upstream = new RawUpstream(({ send, text }) =>
      send(replyOf(new Bun.SHA256().update(text.slice(text.indexOf("\r\n\r\n") + 4)).digest("hex"))),
    );
    using client = clientOf();
    const ascii = "0123456789abcdef".repeat(300_000);
    const other = "0123456789abcdé\u{1f600}".repeat(100_000);
    for (const body of [ascii, other, Buffer.from(ascii), new Uint8Array(Buffer.from(other)), "x".repeat(65_537)]) {
      const latin1 = Buffer.from(body).toString("latin1");
      const hash = new Bun.SHA256().update(latin1).digest("hex");
      expect(await textOf(await client.ask(requestTo(upstream.url(), { body })))).toBe(hash);
    }
    expect(upstream.connections).toBe(1);
  });

  test("with a control character in a header is not sent", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")));
    using client = clientOf();
    const bad = new Headers({ "x-a": "a\u0001b" });
    expect(await failureOf(client.ask(requestTo(upstream.url(), { headers: bad })))).toBeInstanceOf(TypeError);
    // The runtime's own class accepts more.
    const lax: Headers = Object.assign(new Headers(), {
      [Symbol.iterator]: () => [["x-a", "a\r\nx-b: c"]][Symbol.iterator](),
    });
    expect(await failureOf(client.ask(requestTo(upstream.url(), { headers: lax })))).toBeInstanceOf(TypeError);
    expect(upstream.connections).toBe(0);
  });

  test("whose reply breaks off in its head is distinguished from one without a reply", async () => {
    using client = clientOf();
    using broken = new RawUpstream(({ send, socket }) => {
      send("HTTP/1.1 200 OK\r\ncontent-le");
      socket.end();
    });
    expect(await failureOf(client.ask(requestTo(broken.url())))).toBeInstanceOf(BadReply);
    using mute = new RawUpstream(({ socket }) => socket.end());
    expect(await failureOf(client.ask(requestTo(mute.url())))).not.toBeInstanceOf(BadReply);
  });

  test("to a URL that is not HTTP is refused", async () => {
    using client = clientOf();
    for (const url of ["ftp://host/", "nonsense", "http://user:secret@host/"]) {
      expect(await failureOf(client.ask(requestTo(url)))).toBeInstanceOf(TypeError);
    }
  });

  test("reaches an IPv6 address", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")), "::1");
    using client = clientOf();
    expect(await textOf(await client.ask(requestTo(upstream.url())))).toBe("ok");
    expect(upstream.requests[0]).toContain("\r\nhost: [::1]:");
  });

  test("rejects if nothing listens or the host has no address", async () => {
    const upstream = new RawUpstream(() => undefined);
    const url = upstream.url();
    upstream[Symbol.dispose]();
    using client = clientOf();
    expect(await failureOf(client.ask(requestTo(url)))).toMatchObject({ code: "ECONNREFUSED" });
    expect(await failureOf(client.ask(requestTo("http://host.invalid/")))).toMatchObject({ code: "ENOTFOUND" });
  });
});

describe("a reply", () => {
  test("in one packet is passed on at once", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("hello", "x-id: 7")));
    using client = clientOf();
    const reply = await client.ask(requestTo(upstream.url()));
    const reading = Reading.of(reply.body);
    expect(reading).toMatchObject({ state: "ended", text: "hello" });
    expect(reading.pieces).toHaveLength(1);
    expect([reply.status, reply.headers.get("x-id"), reply.headers.get("x-none")]).toEqual([200, "7", null]);
  });

  test("in chunks arrives in one piece per packet", async () => {
    using upstream = new RawUpstream(({ send }) => {
      send(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${"2\r\nab\r\n".repeat(50)}0\r\n\r\n`);
    });
    using client = clientOf();
    const reading = Reading.of((await client.ask(requestTo(upstream.url()))).body);
    expect(reading).toMatchObject({ state: "ended", text: "ab".repeat(50) });
    expect(reading.pieces).toHaveLength(1);
  });

  test("that lasts until the connection closes ends there", async () => {
    using upstream = new RawUpstream(({ send, socket }) => {
      send("HTTP/1.1 200 OK\r\n\r\nuntil the end");
      socket.end();
    });
    using client = clientOf();
    expect(await textOf(await client.ask(requestTo(upstream.url())))).toBe("until the end");
  });

  test("is passed on as it arrives", async () => {
    const peer = Promise.withResolvers<(data: string) => void>();
    using upstream = new RawUpstream(({ send }) => {
      send("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\none");
      peer.resolve(send);
    });
    using client = clientOf();
    const reading = Reading.of((await client.ask(requestTo(upstream.url()))).body);
    await reading.until(() => reading.text === "one");
    expect(reading.state).toBe("open");
    (await peer.promise)("two");
    await reading.done;
    expect(reading).toMatchObject({ state: "ended", text: "onetwo" });
  });

  const broken: Record<string, string> = {
    "a length": "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbroken",
    chunks: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\nbroken\r\n",
    "chunks within the last one": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\nbroken\r\n0\r\n",
  };
  for (const how of ["end", "terminate"] as const) {
    for (const [what, text] of Object.entries(broken)) {
      test(`with ${what} that breaks off by ${how} fails`, async () => {
        const cut = Promise.withResolvers<() => void>();
        using upstream = new RawUpstream(({ send, socket }) => {
          send(text);
          cut.resolve(() => socket[how]());
        });
        using client = clientOf();
        const reading = Reading.of((await client.ask(requestTo(upstream.url()))).body);
        await reading.until(() => reading.text === "broken");
        (await cut.promise)();
        await reading.done;
        expect(reading).toMatchObject({ state: "failed", text: "broken" });
        expect(reading.failure).toBeInstanceOf(Error);
      });
    }
  }

  test("that is not HTTP rejects, or fails if its head was valid", async () => {
    using upstream = new RawUpstream(({ send, request }) =>
      send(request === 1 ? "HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\nab" : ""),
    );
    using client = clientOf();
    expect(await failureOf(client.ask(requestTo(upstream.url())))).toMatchObject({ name: "BadReply" });
    using late = new RawUpstream(({ send }) => send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnonsense"));
    // Both in one packet: it was answered anyway.
    const reply = await client.ask(requestTo(late.url()));
    expect(reply.status).toBe(200);
    expect(await failureOf(textOf(reply))).toMatchObject({ name: "BadReply" });
    await Promise.all([upstream, late].map((server) => server.until(() => server.closed === 1)));
  });

  test("that broke off before it was read reports that when it is read", async () => {
    const peer = Promise.withResolvers<(data: string) => void>();
    using upstream = new RawUpstream(({ send }) => {
      send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\nbroken\r\n");
      peer.resolve(send);
    });
    using client = clientOf();
    const reply = await client.ask(requestTo(upstream.url()));
    (await peer.promise)("nonsense");
    // The client closes the connection.
    await upstream.until(() => upstream.closed === 1);
    const reading = Reading.of(reply.body);
    expect([reading.state, reading.text]).toEqual(["failed", "broken"]);
  });
});

describe("the fallback", () => {
  test("is used for a body that is not in memory, and for a proxy", async () => {
    const asked: string[] = [];
    using client = clientOf({
      variables: { HTTPS_PROXY: "http://proxy:1", no_proxy: "direct.test" },
      fallback: (request) => {
        asked.push(request.url);
        return Promise.reject(new Error("asked"));
      },
    });
    const stream = new ReadableStream<Uint8Array>();
    const blob = new Blob(["x"]);
    for (const request of [
      requestTo("http://host.invalid/stream", { body: stream }),
      requestTo("http://host.invalid/blob", { body: blob }),
      requestTo("https://host.invalid/proxy"),
    ]) {
      expect(String(await failureOf(client.ask(request)))).toContain("asked");
    }
    expect(String(await failureOf(client.ask(requestTo("https://direct.test:1/"))))).not.toContain("asked");
    expect(asked.map((url) => new URL(url).pathname)).toEqual(["/stream", "/blob", "/proxy"]);
  });
});
