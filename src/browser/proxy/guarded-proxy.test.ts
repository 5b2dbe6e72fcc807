/** The proxy on its own, spoken to over sockets. */
import { afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { AddressGuard } from "../../outbound/index.ts";
import { type Credentials, GuardedProxy } from "./guarded-proxy.ts";
import type { PassBounds, ProxyPass } from "./proxy-pass.ts";

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

const bounds: PassBounds = { connectionsMax: 8, connectionsInAllMax: 100, bytesMax: 1_000_000 };

interface Scene {
  proxyPort: number;
  pass: ProxyPass;
  authorization: string;
}

async function proxyWith(
  given: Partial<PassBounds> = {},
  isUnwanted: (host: string) => boolean = () => false,
): Promise<Scene> {
  const guard = new AddressGuard({
    allowPrivateHosts: ["*.test:*"],
    allowPorts: [80, 443],
    resolve: (name) => Promise.resolve([name.startsWith("down") ? "127.0.0.2" : "127.0.0.1"]),
    ownAddresses: () => [],
  });
  const proxy = new GuardedProxy({ guard, randomBytes });
  endings.push(() => proxy.close());
  const address = await proxy.listen();
  const { pass, credentials } = proxy.issue({ ...bounds, ...given }, isUnwanted);
  return { proxyPort: Number(new URL(address).port), pass, authorization: basic(credentials) };
}

function basic({ username, password }: Credentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

interface Upstream {
  port: number;
  /** The text that each connection has sent. */
  received: string[];
}

async function upstreamWith(answer: (socket: Socket, text: string) => void): Promise<Upstream> {
  const received: string[] = [];
  const server: Server = createServer((socket) => {
    const at = received.push("") - 1;
    socket.on("error", () => undefined);
    socket.on("data", (bytes: Buffer) => {
      received[at] += bytes.toString("latin1");
      answer(socket, received[at] ?? "");
    });
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  endings.push(() => server.close());
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, received };
}

interface Talk {
  /** All that the proxy sends until it closes. */
  whole: Promise<string>;
  until: (text: string) => Promise<void>;
  socket: Socket;
}

function talk(port: number, text: string): Talk {
  const socket = connect({ host: "127.0.0.1", port });
  let received = "";
  const waiting: { wanted: string; resolve: () => void }[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on("data", (bytes: Buffer) => {
    received += bytes.toString("latin1");
    for (const each of waiting) if (received.includes(each.wanted)) each.resolve();
  });
  socket.on("error", () => undefined);
  socket.on("close", () => resolve(received));
  socket.write(text, "latin1");
  endings.push(() => socket.destroy());
  const until = (wanted: string): Promise<void> => {
    const found = Promise.withResolvers<void>();
    waiting.push({ wanted, resolve: found.resolve });
    if (received.includes(wanted)) found.resolve();
    return found.promise;
  };
  return { whole: promise, until, socket };
}

const requestTo = (target: string, authorization: string, fields = ""): string =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: ${authorization}\r\nProxy-Connection: keep-alive\r\n${fields}\r\n`;

const tunnelTo = (target: string, authorization: string): string =>
  `CONNECT ${target} HTTP/1.1\r\nProxy-Authorization: ${authorization}\r\n\r\n`;

describe("the proxy", () => {
  test("answers nobody without the credentials of a running scrape", async () => {
    const upstream = await upstreamWith(() => undefined);
    const { proxyPort, pass, authorization } = await proxyWith();
    const target = `http://a.test:${upstream.port}/`;
    const wrong = [
      "",
      "Basic ",
      "Basic c2NyYXBlOg==",
      `Basic ${"A".repeat(60)}`,
      authorization.toLowerCase(),
      "Bearer x",
    ];
    for (const each of wrong) {
      expect(await talk(proxyPort, requestTo(target, each)).whole).toStartWith("HTTP/1.1 407 ");
      expect(await talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, each)).whole).toStartWith("HTTP/1.1 407 ");
    }
    expect(await talk(proxyPort, `GET ${target} HTTP/1.1\r\n\r\n`).whole).toStartWith("HTTP/1.1 407 ");
    pass.end();
    expect(await talk(proxyPort, requestTo(target, authorization)).whole).toStartWith("HTTP/1.1 407 ");
    expect(upstream.received).toEqual([]);
  });

  test("passes a request on for one connection, without what is meant for the proxy", async () => {
    const upstream = await upstreamWith((socket) => {
      socket.write(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhel",
      );
      socket.write("lo");
    });
    const { proxyPort, authorization } = await proxyWith();
    const asked = talk(
      proxyPort,
      requestTo(`http://a.test:${upstream.port}/p?q=%20#f`, authorization, "X-Own: caf\xe9\r\n"),
    );
    await asked.until("hello");
    asked.socket.destroy();
    expect(await asked.whole).toBe(
      "HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
    );
    expect(upstream.received).toEqual([
      "GET /p?q=%20#f HTTP/1.1\r\nHost: x\r\nX-Own: caf\xe9\r\nConnection: close\r\n\r\n",
    ]);
  });

  test("opens tunnels, and closes both ends together", async () => {
    const upstream = await upstreamWith((socket, text) =>
      text === "bye" ? socket.end("ciao") : socket.write(`<${text}>`),
    );
    const { proxyPort, authorization } = await proxyWith();
    const tunnel = talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, authorization));
    await tunnel.until("\r\n\r\n");
    tunnel.socket.write("b");
    await tunnel.until("<b>");
    tunnel.socket.write("ye");
    expect(await tunnel.whole).toEndWith("\r\n\r\n<b>ciao");
  });

  test.each([
    ["http://127.0.0.1/", "refused"],
    ["http://a.b.localhost/", "refused"],
    ["http://10.1.1.1/", "refused"],
    ["http://public.example/", "refused"],
    ["http://update.googleapis.com/", "refused"],
    ["http://unwanted.test/", "refused"],
    ["http://down.test:1/", "unreachable"],
  ] as const)("remembers why %s failed", async (target, failure) => {
    const { proxyPort, pass, authorization } = await proxyWith({}, (host) => host === "unwanted.test");
    expect(await talk(proxyPort, requestTo(target, authorization)).whole).toBe("");
    expect(pass.verdictOn(new URL(target))?.failure).toBe(failure);
    const { host, port } = new URL(target);
    const tunnel = tunnelTo(port === "" ? `${host}:443` : host, authorization);
    expect(await talk(proxyPort, tunnel).whole).toStartWith("HTTP/1.1 502 ");
    expect(pass.verdictOn(new URL(target.replace("http", "https")))?.failure).toBe(failure);
  });

  test("is not asked by itself, also where loopback is permitted", async () => {
    const { proxyPort, pass, authorization } = await proxyWith();
    const target = `http://a.test:${proxyPort}/`;
    expect(await talk(proxyPort, requestTo(target, authorization)).whole).toBe("");
    expect(pass.verdictOn(new URL(target))?.failure).toBe("refused");
  });

  test.each([
    "GET / HTTP/1.1\r\n\r\n",
    "GET ftp://a.test/ HTTP/1.1\r\n\r\n",
    "GET file:///etc/passwd HTTP/1.1\r\n\r\n",
    "CONNECT  HTTP/1.1\r\n\r\n",
    "CONNECT a.test:99999 HTTP/1.1\r\n\r\n",
    "\x16\x03\x01 hello\r\n\r\n",
    "x".repeat(200_000),
  ])("closes on what is no request of a browser (%#)", async (text) => {
    const { proxyPort, authorization } = await proxyWith();
    const withCredentials = text.replace("\r\n\r\n", `\r\nProxy-Authorization: ${authorization}\r\n\r\n`);
    expect(await talk(proxyPort, withCredentials).whole).toMatch(/^(HTTP\/1\.1 502 .*)?$/s);
  });

  test("closes on a reply that is none", async () => {
    const upstream = await upstreamWith((socket) => void socket.write("<html>HTTP/0.9</html>\r\n\r\n"));
    const { proxyPort, authorization } = await proxyWith();
    expect(await talk(proxyPort, requestTo(`http://a.test:${upstream.port}/`, authorization)).whole).toBe("");
  });

  test("counts a scrape's bytes in both directions, and ends all of its connections", async () => {
    const upstream = await upstreamWith((socket) => void socket.write("y".repeat(600)));
    const { proxyPort, pass, authorization } = await proxyWith({ bytesMax: 1_000 });
    const idle = talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, authorization));
    await idle.until("\r\n\r\n");
    const busy = talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, authorization));
    await busy.until("\r\n\r\n");
    busy.socket.write("x".repeat(500));
    await Promise.all([idle.whole, busy.whole]);
    expect(pass.isExhausted).toBe(true);
    expect(await talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, authorization)).whole).toStartWith(
      "HTTP/1.1 502 ",
    );
  });

  test("bounds a scrape's connections, and ends them with it", async () => {
    const upstream = await upstreamWith(() => undefined);
    const { proxyPort, pass, authorization } = await proxyWith({ connectionsMax: 2, connectionsInAllMax: 3 });
    const open = async (): Promise<Talk> => {
      const tunnel = talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, authorization));
      await tunnel.until("\r\n\r\n");
      return tunnel;
    };
    const [first, second] = [await open(), await open()];
    expect(await talk(proxyPort, tunnelTo(`a.test:${upstream.port}`, authorization)).whole).toStartWith(
      "HTTP/1.1 502 ",
    );
    first.socket.destroy();
    await first.whole;
    pass.end();
    expect(await second.whole).toStartWith("HTTP/1.1 200 ");
  });

  test("holds back a server whose reader is slow", async () => {
    const whole = 8_000_000;
    let sent = 0;
    const upstream = await upstreamWith((socket) => {
      const more = (): void => {
        while (sent < whole && socket.write("z".repeat(100_000))) sent += 100_000;
        if (sent < whole) socket.once("drain", more);
      };
      more();
    });
    const { proxyPort, authorization } = await proxyWith({ bytesMax: 10_000_000 });
    const reader = connect({ host: "127.0.0.1", port: proxyPort });
    endings.push(() => reader.destroy());
    reader.write(tunnelTo(`a.test:${upstream.port}`, authorization));
    let got = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    reader.once("data", () => {
      reader.pause();
      reader.write("go");
      reader.on("data", (bytes: Buffer) => {
        got += bytes.length;
        if (got >= whole) resolve();
      });
      reader.resume();
    });
    await promise;
    expect(got).toBeGreaterThanOrEqual(whole);
  });
});
