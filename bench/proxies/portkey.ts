import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onProxyCore } from "../system/pinning.ts";
import { freePort } from "../system/ports.ts";
import { upstreamModels, waitUntilReady } from "./proxy.ts";
import type { Proxy, ProxyContext, RunningProxy } from "./proxy.ts";

const benchDirectory = join(import.meta.dirname, "..");
const packageDirectory = join(benchDirectory, "node_modules", "@portkey-ai", "gateway");
const program = join(packageDirectory, "build", "start-server.js");
const loopbackOnly = join(import.meta.dirname, "loopback-only.mjs");

/** Installs the packages of `bench/package.json` if they are missing. */
async function whyMissing(): Promise<string | null> {
  if (Bun.which("node") === null) return "node is not installed";
  if (existsSync(program)) return null;
  if (Bun.which("npm") === null) return "npm is not installed";
  process.stderr.write("bench: installing @portkey-ai/gateway under bench/ …\n");
  const command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const install = Bun.spawn(command, { cwd: benchDirectory, stdin: "ignore", stdout: 2, stderr: 2 });
  await install.exited;
  return existsSync(program) ? null : "@portkey-ai/gateway could not be installed (npm ci in bench/ failed)";
}

function label(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageDirectory, "package.json"), "utf8"));
  const known = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return `Portkey ${known ? String(manifest.version) : ""}`;
}

async function start(context: ProxyContext): Promise<RunningProxy> {
  const port = await freePort();
  const command = ["node", "--import", loopbackOnly, program, `--port=${port}`, "--headless"];
  const pinned = onProxyCore(context.pinning, command);
  const server = context.children.startServer("portkey", pinned, { NODE_ENV: "production" });
  await waitUntilReady(server, port, "/");
  const headers = {
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${context.upstreamPort}/v1`,
  };
  const target = { port, models: upstreamModels, headers };
  return { target, process: server, databasePid: null, stateFile: null, spoolFolder: null, stop: () => server.stop() };
}

export const portkey: Proxy = {
  id: "portkey",
  label,
  setUp: "@portkey-ai/gateway on Node.js, headless, NODE_ENV=production; no auth, no ledger",
  whyMissing,
  start,
};
