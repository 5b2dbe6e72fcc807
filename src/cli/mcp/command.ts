import type { Command } from "commander";
import { UsageError } from "../options.ts";
import { StdioBridge } from "./stdio-bridge.ts";

const NAME = /^[a-z0-9-]{1,32}$/;

export function addMcpCommand(program: Command): void {
  program
    .command("mcp [name]")
    .description("tools of a running gateway over stdio, for clients that start their servers (TOLLGATE_TOKEN)")
    .option("--url <url>", "the gateway's address (default: $TOLLGATE_URL, else http://127.0.0.1:8787)")
    .action(mcp);
}

async function mcp(name: string | undefined, { url }: { url?: string }): Promise<void> {
  const { TOLLGATE_URL = "", TOLLGATE_TOKEN = "" } = process.env;
  const address = url ?? (TOLLGATE_URL === "" ? "http://127.0.0.1:8787" : TOLLGATE_URL);
  if (!URL.canParse(address)) throw new UsageError(`"${address}" is no address such as http://127.0.0.1:8787`);
  if (name !== undefined && !NAME.test(name)) throw new UsageError(`"${name}" is no name of a server or a set`);
  // On the command line it would be seen by everyone on the machine.
  if (TOLLGATE_TOKEN === "") throw new UsageError("set TOLLGATE_TOKEN to a token of the gateway");
  const bridge = new StdioBridge({
    url: `${address.replace(/\/+$/, "")}/mcp${name === undefined ? "" : `/${name}`}`,
    token: TOLLGATE_TOKEN,
    fetch: (to, init) => fetch(to, init),
    write: (line) => void process.stdout.write(`${line}\n`),
  });
  await bridge.run(Bun.stdin.stream());
}
