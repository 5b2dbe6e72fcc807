interface ScriptedRequest {
  method: string;
  /** Without the query. */
  path: string;
  key: string;
  body: string;
  /** The body as it came, for one that is no text. */
  bytes: Buffer;
  headers: Headers;
}

/** An upstream whose every answer the test writes itself, for what the simulators of real providers never say. */
export interface ScriptedUpstream {
  /** To be a provider's `base_url`. */
  url: string;
  /** Requests so far. */
  requests: ScriptedRequest[];
  /** Says how the next requests are answered. */
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
