import type { Command } from "commander";
import { UsageError } from "./options.ts";

/** The time-out for the answer. */
const ANSWER_MS_MAX = 5_000;

export function addHealthCommand(program: Command): void {
  program
    .command("health")
    .description("ask a running gateway whether it takes paid calls; exits with 1 if not")
    .option("--url <url>", "its address", "http://127.0.0.1:8787")
    .action(health);
}

/** The machine's own addresses. A certificate is rarely for them, and nothing secret is sent: any will do. */
const ownHosts = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** For the health checks of containers and services, which have no other client of HTTP. */
async function health({ url }: { url: string }): Promise<void> {
  if (!URL.canParse(url)) throw new UsageError(`--url: "${url}" is no address such as http://127.0.0.1:8787`);
  const address = new URL("/health/ready", url);
  const tls = ownHosts.has(address.hostname) ? { tls: { rejectUnauthorized: false } } : {};
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(ANSWER_MS_MAX), redirect: "manual", ...tls });
    console.log(answer.ok ? "ready" : `not ready: ${answer.status}`);
    if (!answer.ok) process.exitCode = 1;
  } catch (reason) {
    console.log(`not reached: ${reason instanceof Error ? reason.message : String(reason)}`);
    process.exitCode = 1;
  }
}
