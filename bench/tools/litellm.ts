/** LiteLLM's MCP gateway before the same server, if there is a Python that can install it. */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPython } from "../../test/kit/index.ts";
import { waitUntilReady } from "../proxies/proxy.ts";
import type { Children } from "../system/children.ts";
import { freePort } from "../system/ports.ts";

const requirements = "bench/tools/litellm.txt";

/** It loads for long, on a busy machine for minutes. */
const READY_MS_MAX = 300_000;

/** It refuses to start with a weak one. */
const key = `sk-${crypto.randomUUID()}`;

export interface Litellm {
  pid: number;
  /** Asks for the list, or calls a tool; rejects unless there is a result. */
  ask: (method: "tools/list" | "tools/call") => Promise<void>;
  stop: () => Promise<void>;
}

/** Undefined if it can't be installed. `server`: the URL of the server of tools. */
export async function startLitellm(children: Children, server: string): Promise<Litellm | undefined> {
  const found = await findPython(requirements);
  if ("missing" in found) return undefined;
  const port = await freePort();
  const config = join(children.directory, "litellm.yaml");
  const servers = { records: { url: server, transport: "http" } };
  // JSON is YAML.
  writeFileSync(
    config,
    JSON.stringify({ general_settings: { master_key: key }, model_list: [], mcp_servers: servers }),
  );
  const command = [
    join(dirname(found.python), "litellm"),
    "--config",
    config,
    "--port",
    `${port}`,
    "--host",
    "127.0.0.1",
  ];
  const child = children.startServer("litellm", command, { LITELLM_LOCAL_MODEL_COST_MAP: "true" });
  await waitUntilReady(child, port, "/health/liveliness", READY_MS_MAX);
  return { pid: child.pid, ask: (method) => ask(port, method), stop: () => child.stop() };
}

async function ask(port: number, method: string): Promise<void> {
  const params = method === "tools/call" ? { name: "records-get_record_1", arguments: { id: "r-1" } } : {};
  const answer = await fetch(`http://127.0.0.1:${port}/mcp/`, {
    method: "POST",
    headers: {
      "x-litellm-api-key": `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await answer.text();
  if (!text.includes('"result"') || text.includes('"isError":true')) throw new Error(`LiteLLM: ${text.slice(0, 300)}`);
}
