/** The listener of the test sites: it records every request, and hands out the sockets that hostile answers need. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that a site received. */
interface SeenRequest {
  readonly method: string;
  /** Path with its query string. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  /** In milliseconds, by `performance.now()`. */
  readonly startedMs: number;
  /** Undefined while it is answered. */
  endedMs: number | undefined;
}

/** One request as a route sees it. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Scheme, host and port of this site. */
  readonly origin: string;
}

export type Route = (visit: Visit) => void | Promise<void>;

/** Finds the route of a path; undefined is a 404. */
export type FindRoute = (pathname: string) => Route | undefined;

/** A running site. */
export interface TestSite {
  /** Without a slash at the end. */
  readonly url: string;
  /** All requests since the start or the last `clear`, in the order of their arrival. */
  readonly requests: readonly SeenRequest[];
  /** The most requests that were answered at the same time, of those that the filter takes. */
  mostAtOnce(filter?: (request: SeenRequest) => boolean): number;
  /** Requests of a path, whatever its query. */
  visits(pathname: string): readonly SeenRequest[];
  clear(): void;
  /** Ends all connections. */
  stop(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1. */
export async function listenOn(find: FindRoute): Promise<TestSite> {
  const requests: SeenRequest[] = [];
  let origin = "";
  const server = createServer((request, response) => {
    const seen = record(request);
    requests.push(seen);
    response.on("close", () => (seen.endedMs = performance.now()));
    // A visitor that disconnects is part of most tests of hostile pages.
    response.on("error", () => undefined);
    const url = new URL(request.url ?? "/", origin);
    const route = find(url.pathname) ?? missing;
    void answer(route, { request, response, url, origin });
  });
  Object.assign(server, { timeout: 0, requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 0 });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: origin,
    requests,
    mostAtOnce: (filter = () => true) => mostAtOnce(requests.filter(filter)),
    visits: (pathname) => requests.filter(({ path }) => path.split("?")[0] === pathname),
    clear: () => void requests.splice(0),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function record({ method = "GET", url = "/", headers }: IncomingMessage): SeenRequest {
  return { method, path: url, headers, startedMs: performance.now(), endedMs: undefined };
}

async function answer(route: Route, visit: Visit): Promise<void> {
  try {
    await route(visit);
  } catch (error) {
    console.error("the test site failed:", error);
    visit.response.destroy();
  }
}

function missing({ response, url }: Visit): void {
  const body = `<!doctype html><title>Not found</title><h1>Not found</h1><p>There is no ${encodeURI(url.pathname)} here.`;
  response.writeHead(404, { "content-type": "text/html; charset=utf-8" }).end(body);
}

function mostAtOnce(requests: readonly SeenRequest[]): number {
  const changes = requests.flatMap(({ startedMs, endedMs = Infinity }): [number, number][] => [
    [startedMs, 1],
    [endedMs, -1],
  ]);
  let open = 0;
  let most = 0;
  for (const [, change] of changes.toSorted(([a, x], [b, y]) => a - b || x - y)) {
    open += change;
    most = Math.max(most, open);
  }
  return most;
}

/** A route that sends a text or bytes whole. */
export function send(body: string | Uint8Array, headers: Record<string, string> | string, status = 200): Route {
  const fields = typeof headers === "string" ? { "content-type": headers } : headers;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return ({ request, response }) => {
    response.writeHead(status, { "content-length": String(bytes.length), ...fields });
    response.end(request.method === "HEAD" ? undefined : bytes);
  };
}

/** A route that sends an HTML page in UTF-8. */
export function sendHtml(body: string, status = 200): Route {
  return send(body, "text/html; charset=utf-8", status);
}

/** A route that redirects; `location` may depend on the site's own address. */
export function redirect(location: string | ((visit: Visit) => string), status = 302): Route {
  return (visit) => {
    const target = typeof location === "string" ? location : location(visit);
    visit.response.writeHead(status, { location: target }).end();
  };
}
