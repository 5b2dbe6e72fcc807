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

/**
 * For the health checks of containers and services, which have no other client of HTTP. A port of this machine that does not speak
 * plain HTTP is asked over TLS too: the image's own check does not know whether the configuration has `server.tls`.
 */
async function health({ url }: { url: string }): Promise<void> {
  if (!URL.canParse(url)) throw new UsageError(`--url: "${url}" is no address such as http://127.0.0.1:8787`);
  const address = new URL("/health/ready", url);
  const isOwn = ownHosts.has(address.hostname);
  let found = await ask(address, isOwn);
  if (found.status === undefined && isOwn && address.protocol === "http:") {
    const overTls = await ask(new URL(address.href.replace(/^http:/, "https:")), isOwn);
    if (overTls.status !== undefined) found = overTls;
  }
  console.log(found.text);
  if (found.status !== 200) process.exitCode = 1;
}

async function ask(address: URL, isOwn: boolean): Promise<{ status: number | undefined; text: string }> {
  const tls = isOwn ? { tls: { rejectUnauthorized: false } } : {};
  try {
    const { ok, status } = await fetch(address, {
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      redirect: "manual",
      ...tls,
    });
    return { status, text: ok ? "ready" : `not ready: ${status}` };
  } catch (reason) {
    return { status: undefined, text: `not reached: ${reason instanceof Error ? reason.message : String(reason)}` };
  }
}
