import { UsageError } from "./options.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/** Seconds without a byte after which Bun closes a connection: long enough to send a request's head, or to reuse it. */
const IDLE_SECONDS = 60;

export interface Listening {
  url: string;
  answerWith(handler: Handler): void;
  /** Takes no new connections; resolves when the open ones have ended. */
  close(): Promise<void>;
}

/** Binds the port. Requests that come before `answerWith` wait for it. */
export function listen(host: string, port: number): Listening {
  const ready = Promise.withResolvers<Handler>();
  let handler: Handler | undefined;
  const server = bind(host, port, (request, own) => {
    // A model may think for minutes; how long is for the pipeline's own, named time-outs to say.
    own.timeout(request, 0);
    return handler === undefined ? ready.promise.then((late) => late(request)) : handler(request);
  });
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    answerWith(next) {
      handler = next;
      ready.resolve(next);
    },
    close: () => server.stop(false),
  };
}

function bind(
  host: string,
  port: number,
  fetch: (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>,
) {
  try {
    return Bun.serve({
      hostname: host,
      port,
      idleTimeout: IDLE_SECONDS,
      // The gateway's own limit answers in the shape of the surface.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Outside of development Bun lets several processes share a port: a second server would take half of the calls.
      reusePort: false,
      fetch,
    });
  } catch (cause) {
    throw new UsageError(
      `cannot listen on ${host}:${port}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}
