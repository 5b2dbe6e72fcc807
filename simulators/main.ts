import { parseArgs } from "node:util";

import { startSimulators } from "./index.ts";

/**
 * Runs the simulators as a process: `bun simulators/main.ts [--host H] [--port N] [--site-port N]
 * [--exit-with-parent]`.
 * Prints one JSON line with the URLs when listening. SIGTERM and SIGINT end it at once with exit code 0.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      host: { type: "string", default: "127.0.0.1" },
      port: { type: "string", default: "0" },
      "site-port": { type: "string", default: "0" },
      "exit-with-parent": { type: "boolean", default: false },
    },
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => process.exit(0));
  if (values["exit-with-parent"]) exitWithParent();
  const port = readPort("--port", values.port);
  const sitePort = readPort("--site-port", values["site-port"]);
  const { url, providers, web, site } = await startSimulators({ host: values.host, port, sitePort });
  console.log(JSON.stringify({ ready: true, url, providers, web, site }));
}

function readPort(option: string, text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new RangeError(`${option} must be 0 to 65535, not ${text}`);
  return port;
}

/** A parent that dies, even by kill -9, closes our stdin. */
function exitWithParent(): void {
  process.stdin.on("end", () => process.exit(0));
  process.stdin.on("error", () => process.exit(0));
  process.stdin.resume();
}

try {
  await main();
} catch (error) {
  console.error(`simulators: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
