/** A small web site on the loopback interface for tests of money: it counts its requests, and can keep them waiting. */

export interface Target {
  /** `host:port`, as in `web.allow_private_hosts`. */
  host: string;
  /** A server that breaks every answer off. */
  breakingHost: string;
  url(path: string): string;
  /** The number of requests for a path. */
  requests(path: string): number;
  stop(): Promise<void>;
}

const article = (
  path: string,
): string => `<!doctype html><html lang="en"><head><title>The tide of ${path}</title></head>
<body><nav><a href="/linked">Linked</a></nav><main><article><h1>The tide</h1>
${"<p>The tide comes in twice a day, and twice a day it leaves the harbour to the gulls and to the children with their buckets.</p>".repeat(5)}
</article></main></body></html>`;

export function startTarget(): Target {
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
      if (pathname.startsWith("/gate/")) await new Promise<void>((resolve) => waiting.add(resolve));
      if (pathname === "/missing") return html("<title>Not here</title><p>There is nothing here.</p>", 404);
      if (pathname === "/picture.png") return new Response(PNG, { headers: { "content-type": "image/png" } });
      if (pathname === "/robots.txt" || pathname === "/sitemap.xml") return new Response("", { status: 404 });
      // Marks of direction, an invisible space and a tag.
      if (pathname === "/hidden") return html(article("the \u202Eopen\u200B \u{E0041}sea"), 200);
      return html(article(pathname), 200);
    },
  });
  const breaking = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000\r\n\r\n<p>begun");
      },
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return {
    host,
    breakingHost: `127.0.0.1:${breaking.port}`,
    url: (path) => `http://${host}${path}`,
    requests: (path) => counts.get(path) ?? 0,
    async stop() {
      for (const resolve of waiting) resolve();
      breaking.stop(true);
      await server.stop(true);
    },
  };
}

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function html(body: string, status: number): Response {
  return new Response(body, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}
