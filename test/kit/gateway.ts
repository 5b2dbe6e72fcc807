/** Starts real gateway processes for tests, on free ports, with storage and configuration in a folder of their own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { createToken, type TokenRequest } from "../../src/accounts/index.ts";
import { createAccounts } from "../../src/app/accounts.ts";
import type { Storage } from "../../src/storage/index.ts";
import { openStorage } from "./storage.ts";
import { findProgram, programWith, root } from "./program.ts";

/** Prices under which sums are easy to work out by hand: 1 and 2 credits per million tokens. */
export const flatPrice = { input_mtok: 1, output_mtok: 2 };

export interface GatewayOptions {
  /** Model prefix → provider entry, as in the config file. */
  providers: Record<string, object>;
  /** Further top-level keys of the config file. Without `pricing` every model costs `flatPrice`. */
  config?: Record<string, unknown>;
  variables?: Record<string, string>;
  /** A module that is loaded before the program, and may replace modules of its sources. */
  preload?: string;
  arguments?: readonly string[];
  /** A folder of an earlier gateway, to start again on its storage. */
  folder?: string;
  /** The URL of a storage that others use too; without it the gateway has a SQLite file in its folder. */
  storage?: string;
}

export interface Gateway {
  url: string;
  /** The line that it printed when it began to listen. */
  banner: Record<string, unknown>;
  folder: string;
  configFile: string;
  storageUrl: string;
  process: Bun.Subprocess;
  /** Everything that it has logged so far. */
  log(): string;
  /** The log lines so far, parsed. */
  logLines(): Record<string, unknown>[];
  /** Issues a token on the gateway's storage, from this process. */
  token(request?: Partial<TokenRequest>): Promise<string>;
  /** This process's own connection to the gateway's storage. */
  storage: Storage;
  /** Runs a CLI command against the same configuration and storage. */
  cli(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Sends SIGTERM, and waits for the end; returns the exit code. Keeps the folder on request. */
  stop(options?: { keepFolder?: boolean }): Promise<number>;
}

/** The environment without the variables that a developer's machine may have set. */
export function cleanEnvironment(variables: Record<string, string> = {}): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...variables };
}

/** Runs a command to its end, with a module that is loaded before it. */
export async function runCli(
  args: readonly string[],
  variables: Record<string, string> = {},
  cwd = root,
  preload?: string,
) {
  const program = preload === undefined ? await findProgram() : programWith(preload);
  const child = Bun.spawn([...program.command, ...args], {
    cwd,
    env: cleanEnvironment({ ...program.variables, ...variables }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** Started from this process and not stopped yet. */
const running = new Set<Gateway>();

/** Starts `tollgate serve` and resolves when it has printed its banner. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const configFile = join(folder, "tollgate.yaml");
  const storageUrl = options.storage ?? `sqlite:${join(folder, "tollgate.db")}`;
  const logFile = join(folder, "log.jsonl");
  writeFileSync(
    configFile,
    stringify({ providers: options.providers, pricing: { models: { "*": flatPrice } }, ...options.config }),
  );
  const common = ["--config", configFile, "--storage", storageUrl];
  const { preload } = options;
  const program = preload === undefined ? await findProgram() : programWith(preload);
  const serve = [...program.command, "serve", "--port", "0", "--json", ...common, ...(options.arguments ?? [])];
  const child = Bun.spawn(serve, {
    cwd: folder,
    env: cleanEnvironment({ ...program.variables, ...options.variables }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: Bun.file(logFile),
  });
  const log = (): string => readFileSync(logFile, "utf8");
  const printed = await firstLine(child.stdout);
  if (printed === undefined) throw new Error(`the gateway did not start: ${log()}`);
  const banner = JSON.parse(printed) as { url: string };
  const storage = await openStorage(storageUrl);
  const accounts = createAccounts(
    storage,
    {
      clock: Date.now,
      randomBytes: (size: number) => randomBytes(size),
    },
    "test",
  );
  const gateway: Gateway = {
    url: banner.url,
    banner,
    folder,
    configFile,
    storageUrl,
    process: child,
    storage,
    log,
    logLines: () =>
      log()
        .split("\n")
        // The last piece is empty, or a line of which the rest is still being written.
        .slice(0, -1)
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    token: async (request = {}) =>
      (await createToken(accounts, { user: "tester", credits: 1_000_000_000_000n, ...request })).token,
    cli: (...args) => runCli([...args, ...common], options.variables, root, preload),
    async stop({ keepFolder = false } = {}) {
      child.kill("SIGTERM");
      const code = await child.exited;
      running.delete(gateway);
      await storage.close();
      if (!keepFolder) rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
  running.add(gateway);
  return gateway;
}

/** Ends the gateways that a test which failed has left running, in whatever state they are. */
export async function stopGateways(): Promise<void> {
  for (const gateway of running) gateway.process.kill("SIGKILL");
  await Promise.all([...running].map((gateway) => gateway.stop()));
}

/** Starts several nodes that share one storage, and nothing else. */
export function startNodes(count: number, options: GatewayOptions & { storage: string }): Promise<Gateway[]> {
  return Promise.all(Array.from({ length: count }, () => startGateway(options)));
}

/** Starts two of them. */
export function startTwoNodes(options: GatewayOptions & { storage: string }): Promise<[Gateway, Gateway]> {
  return Promise.all([startGateway(options), startGateway(options)]);
}

async function firstLine(stdout: ReadableStream<Uint8Array>): Promise<string | undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stdout) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf("\n");
    if (end !== -1) return text.slice(0, end);
  }
  return undefined;
}
