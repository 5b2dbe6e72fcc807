/** A process of its own: the same tools behind the handler of the official SDK, with its server of the least work. */
import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { sayLine, serveLines } from "../http1/lines.ts";
import { callResult, tools } from "./definitions.ts";

const handler = createMcpHandler(() => {
  // Registering 500 tools for each request would be its greatest work.
  // oxlint-disable-next-line typescript/no-deprecated -- for advanced uses
  const server = new Server({ name: "sdk", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", () => callResult);
  return server;
});
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => handler.fetch(request) });
sayLine({ url: `http://127.0.0.1:${server.port}` });
await serveLines(() => null);
