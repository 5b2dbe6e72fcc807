/** Nothing in a page reaches an address that the guard refuses, by whatever way. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { createServer, type Server } from "node:net";
import type { BrowserError } from "../../../src/browser/index.ts";
import { root } from "../../kit/index.ts";
import { attemptsPage, control } from "./attempts.ts";
import { browserMs, browserScene, browserWith, hasNoBrowser, html, Site } from "./browser-scene.ts";

/** A port of this machine on all addresses that notes every connection and datagram. */
class Canary {
  readonly seen: string[] = [];
  readonly #tcp: Server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => this.seen.push(bytes.toString("latin1").split("\r\n")[0] ?? ""));
    this.seen.push(`a connection to ${socket.localAddress}`);
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret");
  });
  readonly #udp: UdpSocket = createSocket({ type: "udp6" }, () => this.seen.push("a datagram"));
  port = 0;

  async open(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tcp.listen(0, "::", resolve);
    await promise;
    const address = this.#tcp.address();
    this.port = typeof address === "object" && address !== null ? address.port : 0;
    const bound = Promise.withResolvers<void>();
    this.#udp.bind(this.port, "::", bound.resolve);
    await bound.promise;
  }

  close(): void {
    this.#tcp.close();
    this.#udp.close();
  }
}

/** Spellings of this machine, of its metadata service, and of what else the browser could mean by itself. */
const spellings = [
  "127.0.0.1",
  "localhost",
  "app.localhost",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "①②⑦.⓪.⓪.①",
  "127.255.255.254",
  "0.0.0.0",
  "0",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::7f00:1]",
  ...Object.values(networkInterfaces()).flatMap((all = []) =>
    all.flatMap(({ address, family, scopeid }) =>
      scopeid === undefined || scopeid === 0 ? [family === "IPv6" ? `[${address}]` : address] : [],
    ),
  ),
];

describe.skipIf(hasNoBrowser)("a page", () => {
  const canary = new Canary();
  const permitted = new Site((request) => {
    const { pathname } = new URL(request.url);
    if (request.method === "OPTIONS") {
      return new Response(null, {
        headers: { "access-control-allow-origin": "*", "access-control-allow-methods": "PUT" },
      });
    }
    return html(`reached ${pathname}`, { "access-control-allow-origin": "*" });
  });
  const scene = browserScene(
    (_, { pathname, search }) => {
      if (pathname === "/attempts")
        return html(attemptsPage(JSON.parse(decodeURIComponent(search.slice(1))) as string[]));
      if (pathname === "/to") return Response.redirect(decodeURIComponent(search.slice(1)), 302);
      if (pathname === "/script-to")
        return html(`<script>location.href = ${JSON.stringify(decodeURIComponent(search.slice(1)))}</script>`);
      if (pathname === "/worker.js") {
        const target = JSON.stringify(decodeURIComponent(search.slice(1)));
        const script = `fetch(${target}, { mode: "no-cors" }); onfetch = (e) => e.respondWith(fetch(${target}));`;
        return new Response(script, { headers: { "content-type": "text/javascript" } });
      }
      return undefined;
    },
    { allowPrivateHosts: [], allowPorts: [80, 443] },
  );
  beforeAll(async () => {
    await canary.open();
    // The pages themselves, and the other site as a proof that each attempt is made. The canary's port is a permitted one.
    await scene.browser.close();
    const allowPorts = [80, 443, canary.port];
    Object.assign(scene, {
      browser: browserWith({ allowPrivateHosts: [scene.site.host, permitted.host], allowPorts }),
    });
  });
  afterAll(async () => {
    canary.close();
    await permitted.server.stop(true);
  });

  const tryAll = (hosts: readonly string[]): Promise<unknown> =>
    scene.browser.render({
      owner: "alice",
      url: scene.site.url(`/attempts?${encodeURIComponent(JSON.stringify(hosts))}`),
      timeoutMs: 50_000,
      waitForMs: 500,
      actions: [{ type: "wait", selector: "#done" }],
    });

  test(
    "tries in many ways, and succeeds where it may",
    async () => {
      await tryAll([permitted.host]);
      const reached = new Set(permitted.seen.map(({ path }) => decodeURIComponent(path.slice(1))));
      expect(control.filter((name) => !reached.has(name))).toEqual([]);
    },
    browserMs,
  );

  test(
    "reaches this machine in none of them, however it is spelled",
    async () => {
      for (const some of chunks(spellings, 6)) await tryAll(some.map((host) => `${host}:${canary.port}`));
      expect(canary.seen).toEqual([]);
    },
    4 * browserMs,
  );

  const failureOf = async (url: string): Promise<BrowserError["failure"] | undefined> => {
    try {
      await scene.browser.render({ owner: "alice", url, timeoutMs: 60_000 });
    } catch (thrown) {
      return (thrown as BrowserError).failure;
    }
    return undefined;
  };

  test(
    "at such an address is refused, also behind a redirection",
    async () => {
      for (const some of chunks(spellings, 4)) {
        const urls = some.map((host) => `http://${host}:${canary.port}/`);
        expect(await Promise.all(urls.map(failureOf))).toEqual(urls.map(() => "refused"));
      }
      const target = `http://127.0.0.1:${canary.port}/`;
      const metadata = "http://169.254.169.254/latest/meta-data/";
      const ways = [target, target.replace("http", "https"), metadata, "file:///etc/passwd"].flatMap((to) => [
        scene.site.url(`/to?${encodeURIComponent(to)}`),
        ...(to.startsWith("file") ? [] : [scene.site.url(`/script-to?${encodeURIComponent(to)}`)]),
      ]);
      expect(await Promise.all(ways.map(failureOf))).toEqual(ways.map(() => "refused"));
      expect(canary.seen).toEqual([]);
    },
    4 * browserMs,
  );
});

describe.skipIf(hasNoBrowser)("a name that is moved to loopback", () => {
  const canary = new Canary();
  const scene = browserScene((_, { pathname, search }) =>
    pathname === "/" ? html(attemptsPage(JSON.parse(decodeURIComponent(search.slice(1))) as string[])) : undefined,
  );
  beforeAll(async () => {
    await canary.open();
    await scene.browser.close();
    const script = join(root, "test/web/browser/rebinding-child.ts");
    const options = { script, allowPrivateHosts: ["site.test:*"], allowPorts: [canary.port] };
    Object.assign(scene, { browser: browserWith(options) });
  });
  afterAll(() => canary.close());

  test(
    "between two look-ups, or that has both addresses, is not reached",
    async () => {
      const names = ["rebind.test", "a.rebind.test", "both.rebind.test", "inner.test"];
      const hosts = names.map((name) => `${name}:${canary.port}`);
      const url = `http://site.test:${scene.site.server.port}/?${encodeURIComponent(JSON.stringify(hosts))}`;
      const page = await scene.browser.render({
        owner: "alice",
        url,
        timeoutMs: 50_000,
        actions: [{ type: "wait", selector: "#done" }],
      });
      expect(page.status).toBe(200);
      expect(canary.seen).toEqual([]);
    },
    browserMs,
  );
});

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
