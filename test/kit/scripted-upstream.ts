export interface ScriptedRequest {
  key: string;
  /** As text. */
  body: string;
  /** As it came. */
  bytes: Buffer;
  contentType: string | null;
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
    async fetch(request) {
      const bytes = Buffer.from(await request.arrayBuffer());
      const seen = {
        key: (request.headers.get("authorization") ?? "").replace("Bearer ", ""),
        body: bytes.toString("utf8"),
        bytes,
        contentType: request.headers.get("content-type"),
      };
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
