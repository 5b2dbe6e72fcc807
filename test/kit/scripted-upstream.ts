interface ScriptedRequest {
  method: string;
  /** Without the query. */
  path: string;
  key: string;
  body: string;
  /** The raw body, for one that is not text. */
  bytes: Buffer;
  headers: Headers;
}

/** An upstream whose answers the test writes itself, for cases that the simulators of real providers never produce. */
export interface ScriptedUpstream {
  /** To be a provider's `base_url`. */
  url: string;
  /** Requests so far. */
  requests: ScriptedRequest[];
  /** Sets the answers to the next requests. */
  answerWith(script: (request: ScriptedRequest) => Response | Promise<Response>): void;
  stop(): Promise<void>;
}

export function startScriptedUpstream(): ScriptedUpstream {
  const requests: ScriptedUpstream["requests"] = [];
  let script: Parameters<ScriptedUpstream["answerWith"]>[0] = () => new Response("no script", { status: 500 });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 256 * 1024 * 1024,
    async fetch(request) {
      const { headers } = request;
      const bytes = Buffer.from(await request.arrayBuffer());
      const key = (headers.get("authorization") ?? "").replace("Bearer ", "");
      const { pathname: path } = new URL(request.url);
      const seen = { method: request.method, path, key, body: bytes.toString("utf8"), bytes, headers };
      requests.push(seen);
      return script(seen);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    answerWith(next) {
      requests.length = 0;
      script = next;
    },
    stop: () => server.stop(true),
  };
}
