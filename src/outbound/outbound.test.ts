/** Requests through the guard, to real servers on the loopback interface. */
import { afterEach, describe, expect, test } from "bun:test";
import { collectBody, UpstreamClient } from "../upstream/index.ts";
import { Authority } from "../upstream/__fixtures__/certificates.ts";
import { AddressGuard, type Resolve } from "./guard.ts";
import { Outbound, type OutboundRequest } from "./outbound.ts";
import { OutboundError } from "./outbound-error.ts";

const authority = new Authority("the test's authority");
const LOOPBACK = "127.0.0.1";

interface Received {
  method: string;
  path: string;
  host: string | null;
  headers: Headers;
  body: string;
}

class Receiver {
  readonly received: Received[] = [];
  readonly server: Bun.Server<undefined>;

  constructor(answer: (request: Received) => Response | Promise<Response>, tls?: { key: string; cert: string }) {
    this.server = Bun.serve({
      hostname: LOOPBACK,
      port: 0,
      ...(tls === undefined ? {} : { tls }),
      fetch: async (request) => {
        const { pathname } = new URL(request.url);
        const { method, headers } = request;
        const received = { method, path: pathname, host: headers.get("host"), headers, body: await request.text() };
        this.received.push(received);
        return answer(received);
      },
    });
    receivers.add(this);
  }

  url(host: string, path = "/"): string {
    return `${this.server.protocol ?? "http"}://${host}:${this.server.port}${path}`;
  }
}

const receivers = new Set<Receiver>();
afterEach(async () => {
  for (const { server } of receivers) await server.stop(true);
  receivers.clear();
});

/** Requests whose names resolve as the test says, and which may use the given hosts. */
function outboundWith(resolve: Resolve, allowPrivateHosts: readonly string[] = []): Outbound {
  const guard = new AddressGuard({ allowPrivateHosts, allowPorts: [80, 443], resolve, ownAddresses: () => [] });
  const { ask } = new UpstreamClient({
    fallback: () => Promise.reject(new Error("the fallback was asked")),
    clock: Date.now,
    variables: {},
    trusted: authority.cert,
  });
  return new Outbound({ guard, ask });
}

const toLoopback: Resolve = () => Promise.resolve([LOOPBACK]);
const bounds = { bytesMax: 1_000, timeoutMs: 5_000 };

async function textFrom(outbound: Outbound, request: Partial<OutboundRequest> & { url: string }): Promise<string> {
  const { body } = await outbound.fetch({ ...bounds, ...request });
  const collected = await collectBody(body, 1e9);
  return "bytes" in collected ? collected.bytes.toString() : "exceeded";
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (thrown) {
    return thrown instanceof OutboundError ? thrown.failure : String(thrown);
  }
  return "none";
}

/** A closed port: nothing listens there, on any address. */
async function closedPort(): Promise<number> {
  const server = Bun.serve({ hostname: LOOPBACK, port: 0, fetch: () => new Response() });
  const { port = 0 } = server;
  await server.stop(true);
  return port;
}

describe("a request", () => {
  test("to a loopback server is refused", async () => {
    const receiver = new Receiver(() => new Response("secret"));
    const outbound = outboundWith(toLoopback);
    for (const host of [LOOPBACK, "localhost", "rebound.test"]) {
      expect(await failureOf(textFrom(outbound, { url: receiver.url(host) }))).toBe("refused");
    }
    expect(receiver.received).toEqual([]);
  });

  test("to an allowed host connects to its checked address and names the host", async () => {
    const receiver = new Receiver(() => new Response("ok"));
    const outbound = outboundWith(toLoopback, ["hooks.test:*"]);
    const url = receiver.url("hooks.test", "/path");
    const headers = new Headers({ "x-own": "1" });
    expect(await textFrom(outbound, { url, method: "POST", headers, body: "hello" })).toBe("ok");
    const [received] = receiver.received;
    expect(received).toMatchObject({ method: "POST", path: "/path", host: new URL(url).host, body: "hello" });
    expect(received?.headers.get("x-own")).toBe("1");
  });

  test("checks the certificate for the name, not for the address", async () => {
    const receiver = new Receiver(() => new Response("ok"), authority.issue({ name: "x", hosts: ["DNS:hooks.test"] }));
    const outbound = outboundWith(toLoopback, ["*.test"]);
    expect(await textFrom(outbound, { url: receiver.url("hooks.test") })).toBe("ok");
    expect(await failureOf(textFrom(outbound, { url: receiver.url("other.test") }))).toBe("untrusted");
    expect(receiver.received).toHaveLength(1);
  });

  test("reports a bad certificate, also if another address of the host can't be reached", async () => {
    const receiver = new Receiver(() => new Response("ok"), authority.issue({ name: "x", hosts: ["DNS:hooks.test"] }));
    const outbound = outboundWith(() => Promise.resolve([LOOPBACK, "::1"]), ["*.test"]);
    expect(await failureOf(textFrom(outbound, { url: receiver.url("other.test") }))).toBe("untrusted");
  });

  test("knows whether a server had answered before it failed", async () => {
    const port = await closedPort();
    const broken = Bun.listen({
      hostname: LOOPBACK,
      port: 0,
      socket: { data: (each) => void each.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nbegin") },
    });
    const receiver = new Receiver(() => Response.redirect(`http://b.test:${port}/`, 302));
    const outbound = outboundWith(toLoopback, ["*.test:*"]);
    const hadAnswered = async (url: string): Promise<unknown> => {
      const failure = await textFrom(outbound, { url, redirectsMax: 1 }).catch((reason: unknown) => reason);
      return failure instanceof OutboundError && [failure.failure, failure.hasAnswered];
    };
    expect(await hadAnswered(`http://a.test:${port}/`)).toEqual(["unreachable", false]);
    expect(await hadAnswered(receiver.url("a.test"))).toEqual(["unreachable", true]);
    expect(await hadAnswered(`http://a.test:${broken.port}/`)).toEqual(["unreachable", true]);
    broken.stop(true);
  });

  test("names a server that does not speak TLS, or hangs up, and blames no certificate", async () => {
    const receiver = new Receiver(() => new Response("ok"));
    const closing = Bun.listen({
      hostname: LOOPBACK,
      port: 0,
      socket: { open: (each) => void each.end(), data: () => undefined },
    });
    const outbound = outboundWith(toLoopback, ["*.test:*"]);
    const problemOf = async (url: string): Promise<unknown> => {
      try {
        return await textFrom(outbound, { url });
      } catch (reason) {
        return reason instanceof OutboundError ? [reason.failure, reason.message] : reason;
      }
    };
    const plain = receiver.url("hooks.test").replace("http:", "https:");
    expect(await problemOf(plain)).toEqual(["unreachable", "it does not speak TLS"]);
    expect(await problemOf(`https://hooks.test:${closing.port}/`)).toEqual([
      "unreachable",
      "its host could not be reached",
    ]);
    closing.stop(true);
  });

  test("looks a name up once, so that a second answer can't lead to another server", async () => {
    const lookups: string[] = [];
    const receiver = new Receiver(() => new Response("secret"));
    const answers = [["93.184.215.14"], [LOOPBACK]];
    const resolve: Resolve = (name) => {
      lookups.push(name);
      return Promise.resolve(answers[lookups.length - 1] ?? [LOOPBACK]);
    };
    const asked: (string | undefined)[] = [];
    const guard = new AddressGuard({
      allowPrivateHosts: [],
      allowPorts: [receiver.server.port ?? 0],
      resolve,
      ownAddresses: () => [],
    });
    const outbound = new Outbound({
      guard,
      ask: ({ address }) => {
        asked.push(address);
        return Promise.reject(new Error("no network"));
      },
    });
    const url = receiver.url("rebound.test");
    expect(await failureOf(textFrom(outbound, { url }))).toBe("unreachable");
    expect([lookups, asked]).toEqual([["rebound.test"], ["93.184.215.14"]]);
    expect(await failureOf(textFrom(outbound, { url }))).toBe("refused");
    expect(asked).toHaveLength(1);
    expect(receiver.received).toEqual([]);
  });

  test("tries the next address only if the first can't be reached", async () => {
    const receiver = new Receiver(({ path }) => new Response(path));
    const both = outboundWith(() => Promise.resolve(["::1", LOOPBACK]), ["*.test"]);
    expect(await textFrom(both, { url: receiver.url("hooks.test", "/once") })).toBe("/once");
    let connections = 0;
    const dropping = Bun.listen({
      hostname: LOOPBACK,
      port: 0,
      socket: { open: () => void (connections += 1), data: (socket) => void socket.end() },
    });
    const twice = outboundWith(() => Promise.resolve([LOOPBACK, LOOPBACK]), ["*.test"]);
    expect(await failureOf(textFrom(twice, { url: `http://hooks.test:${dropping.port}/` }))).toBe("unreachable");
    expect(connections).toBe(1);
    dropping.stop(true);
  });

  test("that nobody accepts fails", async () => {
    const outbound = outboundWith(toLoopback, ["*"]);
    expect(await failureOf(textFrom(outbound, { url: `http://a.test:${await closedPort()}/` }))).toBe("unreachable");
  });
});

describe("an answer", () => {
  test("may be as long as the bound, not longer", async () => {
    const receiver = new Receiver(({ path }) => new Response("x".repeat(Number(path.slice(1)))));
    const outbound = outboundWith(toLoopback, ["*"]);
    expect(await textFrom(outbound, { url: receiver.url("a.test", "/1000") })).toHaveLength(1_000);
    expect(await failureOf(textFrom(outbound, { url: receiver.url("a.test", "/1001") }))).toBe("too_large");
    expect(await failureOf(textFrom(outbound, { url: receiver.url("a.test", "/9000000") }))).toBe("too_large");
  });

  test("is bounded after its decoding", async () => {
    const packed = Bun.gzipSync(Buffer.alloc(50_000_000));
    const receiver = new Receiver(() => new Response(packed, { headers: { "content-encoding": "gzip" } }));
    const outbound = outboundWith(toLoopback, ["*"]);
    const asked = textFrom(outbound, { url: receiver.url("a.test"), bytesMax: 1_000_000 });
    expect(await failureOf(asked)).toBe("too_large");
  });

  test("has its time, whether it never begins or never ends", async () => {
    const { promise: never } = Promise.withResolvers<Response>();
    const endless = new ReadableStream({ start: (controller) => controller.enqueue("some") });
    const receiver = new Receiver(({ path }) => (path === "/never" ? never : new Response(endless)));
    const outbound = outboundWith(toLoopback, ["*"]);
    for (const path of ["/never", "/endless"]) {
      const asked = textFrom(outbound, { url: receiver.url("a.test", path), timeoutMs: 50 });
      expect(await failureOf(asked)).toBe("timeout");
    }
    const deaf = outboundWith(() => new Promise(() => undefined));
    expect(await failureOf(textFrom(deaf, { url: "http://a.test/", timeoutMs: 20 }))).toBe("timeout");
    expect(await failureOf(deaf.check("http://a.test/", { timeoutMs: 20 }))).toBe("timeout");
  });

  test("ends with the reason of the caller's signal", async () => {
    const endless = new ReadableStream({ start: (controller) => controller.enqueue("some") });
    const receiver = new Receiver(() => new Response(endless));
    const outbound = outboundWith(toLoopback, ["*"]);
    const abort = new AbortController();
    const reply = await outbound.fetch({ ...bounds, url: receiver.url("a.test"), signal: abort.signal });
    const collected = collectBody(reply.body, 1_000);
    abort.abort(new Error("enough"));
    expect(await failureOf(Promise.resolve(collected))).toBe("Error: enough");
    const { signal } = abort;
    expect(await failureOf(outbound.fetch({ ...bounds, url: receiver.url("a.test"), signal }))).toBe("Error: enough");
    expect(receiver.received).toHaveLength(1);
  });
});

describe("a redirect", () => {
  const to = (location: string, status = 302): Response => new Response("moved", { status, headers: { location } });

  test("is the answer itself unless it is to be followed", async () => {
    const receiver = new Receiver(() => to("/elsewhere"));
    const outbound = outboundWith(toLoopback, ["*"]);
    const reply = await outbound.fetch({ ...bounds, url: receiver.url("a.test") });
    expect([reply.status, reply.headers.get("location")]).toEqual([302, "/elsewhere"]);
    reply.body.cancel();
    expect(receiver.received).toHaveLength(1);
  });

  test("is followed on the same origin with all headers, up to the bound", async () => {
    const receiver = new Receiver(({ path }) => (path === "/4" ? new Response("end") : to(`/${Number(path[1]) + 1}`)));
    const outbound = outboundWith(toLoopback, ["*"]);
    const headers = new Headers({ authorization: "Bearer x", "user-agent": "tollgate" });
    const request = { ...bounds, url: receiver.url("a.test", "/1"), headers };
    const reply = await outbound.fetch({ ...request, redirectsMax: 3 });
    expect(reply.url).toBe(receiver.url("a.test", "/4"));
    reply.body.cancel();
    expect(receiver.received.map(({ headers: sent }) => sent.get("authorization"))).toEqual([
      "Bearer x",
      "Bearer x",
      "Bearer x",
      "Bearer x",
    ]);
    expect(await failureOf(outbound.fetch({ ...request, redirectsMax: 2 }))).toBe("redirects");
  });

  test("to a private address is refused, in whatever notation", async () => {
    const inner = new Receiver(() => new Response("secret"));
    const { port } = inner.server;
    let location = "";
    const receiver = new Receiver(() => to(location));
    const outbound = outboundWith(toLoopback, ["a.test:*"]);
    for (const target of [
      inner.url(LOOPBACK),
      inner.url("localhost"),
      inner.url("b.test"),
      `http://2130706433:${port}/`,
      `//0x7f.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      "http://169.254.169.254/latest/meta-data/",
      "http://b.test/",
      "http://user:password@a.test/",
      "ftp://a.test/",
      "file:///etc/passwd",
    ]) {
      location = target;
      expect(await failureOf(textFrom(outbound, { url: receiver.url("a.test"), redirectsMax: 5 }))).toBe("refused");
    }
    expect(inner.received).toEqual([]);
  });

  test("looks the name up again and checks what it finds", async () => {
    let lookups = 0;
    const receiver = new Receiver(() => to("http://b.test/"));
    const outbound = outboundWith(
      (name) => {
        lookups += 1;
        return Promise.resolve([name === "a.test" ? LOOPBACK : "10.0.0.1"]);
      },
      ["a.test:*"],
    );
    expect(await failureOf(textFrom(outbound, { url: receiver.url("a.test"), redirectsMax: 5 }))).toBe("refused");
    expect(lookups).toBe(2);
  });

  test("to another origin takes no credentials along", async () => {
    const other = new Receiver(() => new Response("there"));
    const receiver = new Receiver(() => to(other.url("b.test", "/landed")));
    const outbound = outboundWith(toLoopback, ["*.test"]);
    const secrets = { authorization: "Bearer x", cookie: "a=b", "x-api-key": "k", "webhook-signature": "v1,x" };
    const headers = new Headers({ ...secrets, accept: "text/html", "user-agent": "tollgate" });
    expect(await textFrom(outbound, { url: receiver.url("a.test"), headers, redirectsMax: 1 })).toBe("there");
    const sent = other.received[0]?.headers;
    expect(Object.keys(secrets).filter((name) => sent?.has(name))).toEqual([]);
    expect([sent?.get("accept"), sent?.get("user-agent")]).toEqual(["text/html", "tollgate"]);
  });

  test("to another port of the same host is another origin", async () => {
    const other = new Receiver(() => new Response("there"));
    const receiver = new Receiver(() => to(other.url("a.test")));
    const outbound = outboundWith(toLoopback, ["*.test"]);
    const headers = new Headers({ authorization: "Bearer x" });
    await textFrom(outbound, { url: receiver.url("a.test"), headers, redirectsMax: 1 });
    expect(other.received[0]?.headers.has("authorization")).toBe(false);
  });

  test("from https to http is refused", async () => {
    const other = new Receiver(() => new Response("there"));
    const certificate = authority.issue({ name: "x", hosts: ["DNS:a.test"] });
    const receiver = new Receiver(() => to(other.url("a.test")), certificate);
    const outbound = outboundWith(toLoopback, ["*.test"]);
    const asked = textFrom(outbound, { url: receiver.url("a.test"), redirectsMax: 5 });
    expect(await failureOf(asked)).toBe("redirects");
    expect(other.received).toEqual([]);
  });

  test("whose address has characters beyond ASCII is followed as its bytes are", async () => {
    const receiver = new Receiver(({ path }) => (path === "/" ? to("/\u00c3\u00a9?\u00e9") : new Response("end")));
    const outbound = outboundWith(toLoopback, ["*"]);
    const { url, body } = await outbound.fetch({ ...bounds, url: receiver.url("a.test"), redirectsMax: 1 });
    body.cancel();
    expect(url).toBe(receiver.url("a.test", "/%C3%A9?%E9"));
  });

  describe("that sets cookies", () => {
    const setting = (location: string, ...cookies: string[]): Response => {
      const headers = new Headers({ location });
      for (const cookie of cookies) headers.append("set-cookie", cookie);
      return new Response("moved", { status: 302, headers });
    };

    test("gets them back, beside those of the caller", async () => {
      const receiver = new Receiver(({ headers }) =>
        headers.get("cookie")?.includes("seen=1") === true
          ? new Response(headers.get("cookie"))
          : setting(
              "/",
              "seen=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/",
              "a=new",
              "gone=x; Max-Age=0",
              "s=1; Secure",
            ),
      );
      const outbound = outboundWith(toLoopback, ["*"]);
      const headers = new Headers({ cookie: "a=old; b=2" });
      const request = { url: receiver.url("a.test"), headers, redirectsMax: 1 };
      expect(await textFrom(outbound, request)).toBe("b=2; seen=1; a=new");
    });

    test("on another host shows them to nobody else", async () => {
      const other = new Receiver(({ path }) => (path === "/" ? setting("/end", "theirs=1") : new Response("end")));
      const receiver = new Receiver(() => setting(other.url("b.test"), "ours=1"));
      const outbound = outboundWith(toLoopback, ["*.test"]);
      await textFrom(outbound, { url: receiver.url("a.test"), redirectsMax: 2 });
      expect(other.received.map(({ headers }) => headers.get("cookie"))).toEqual([null, "theirs=1"]);
    });
  });

  test.each([
    [301, "GET", ""],
    [302, "GET", ""],
    [303, "GET", ""],
    [307, "POST", "text"],
    [308, "POST", "text"],
  ])("with %i continues a POST as %s", async (status, method, body) => {
    const receiver = new Receiver(({ path }) => (path === "/" ? to("/next", status) : new Response("end")));
    const outbound = outboundWith(toLoopback, ["*"]);
    const headers = new Headers({ "content-type": "text/plain" });
    const url = receiver.url("a.test");
    await textFrom(outbound, { url, method: "POST", headers, body: "text", redirectsMax: 1 });
    expect(receiver.received[1]).toMatchObject({ method, body });
    expect(receiver.received[1]?.headers.has("content-type")).toBe(body !== "");
  });

  test("never takes a body to another origin", async () => {
    const other = new Receiver(() => new Response("there"));
    const receiver = new Receiver(() => to(other.url("b.test"), 307));
    const outbound = outboundWith(toLoopback, ["*"]);
    const asked = textFrom(outbound, { url: receiver.url("a.test"), method: "POST", body: "text", redirectsMax: 5 });
    expect(await failureOf(asked)).toBe("redirects");
    expect(other.received).toEqual([]);
  });
});
