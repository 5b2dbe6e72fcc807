/** Messages of a stateless client. */
const revision = "2026-07-28";

const tool = "get_record_1";

export function messageOf(method: string, params: object = {}): object {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  };
  const given = method === "tools/call" ? { name: tool, arguments: { id: "r-1" } } : params;
  return { jsonrpc: "2.0", id: 1, method, params: { ...given, _meta: meta } };
}

export function headersOf(token: string, method: string): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(method === "tools/call" && { "mcp-name": tool }),
  };
}
