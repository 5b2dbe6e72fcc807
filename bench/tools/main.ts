/**
 * A process of its own: a server of tools, over HTTP with a provider that answers every chat call at once, or with `stdio` as its
 * argument over standard input and output. Stateless, so that a call is one message each way.
 */
import { sayLine, serveLines } from "../http1/lines.ts";
import { callResult, tools } from "./definitions.ts";
import { completion } from "../upstream/completion.ts";

const results: Readonly<Record<string, object>> = {
  // For gateways of the revisions of 2025.
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "records", version: "1" },
  },
  "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
  "tools/list": { resultType: "complete", tools },
  "tools/call": { resultType: "complete", ...callResult },
};

interface Message {
  id?: unknown;
  method: string;
}

const answerTo = ({ id, method }: Message): object => ({ jsonrpc: "2.0", id, result: results[method] ?? {} });

if (process.argv[2] === "stdio") {
  await serveLines((message) => answerTo(message as Message));
} else {
  const list = JSON.stringify(answerTo({ id: 1, method: "tools/list" }));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/static") return new Response(list, { headers: { "content-type": "application/json" } });
      if (pathname !== "/mcp") return Response.json(completion);
      if (request.method !== "POST") return new Response("", { status: 405 });
      const message = (await request.json()) as Message;
      return message.id === undefined ? new Response("", { status: 202 }) : Response.json(answerTo(message));
    },
  });
  sayLine({ url: `http://127.0.0.1:${server.port}` });
  await serveLines(() => null);
}
