import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onProxyCore } from "../system/pinning.ts";
import { freePort } from "../system/ports.ts";
import { busyPath, flappingPath } from "../upstream/protocol.ts";
import { waitUntilReady } from "./proxy.ts";
import type { Proxy, ProxyContext, RunningProxy } from "./proxy.ts";

export interface TollgateVariant {
  id: string;
  label: string;
  /** The location of its state, for the report. */
  state: string;
  /** Beyond the usual ones. */
  variables?: Record<string, string>;
  /** Absent: its configuration has no routes. */
  routes?: RoutesSetting | undefined;
  /** Commands on its storage before it serves, each without the options of the storage. */
  commands?: readonly (readonly string[])[];
  /** The launcher, `bin/tollgate` of the checkout under test. */
  program: string;
  /** A new storage, given the directory of this instance. */
  openStorage(directory: string, context: ProxyContext): Promise<StoragePlace>;
}

export interface RoutesSetting {
  circuits: boolean;
}

export interface StoragePlace {
  url: string;
  /** Of SQLite. */
  file: string | null;
  databasePid: number | null;
  close(): Promise<void>;
}

/**
 * Only settings without a default, and the bounds that the 500 sessions of one token would exceed: everything that a gateway does
 * by default is on.
 */
function configuration(port: number, upstreamPort: number, routes: RoutesSetting | undefined): string {
  const pathOf = (name: string): string => `http://127.0.0.1:${upstreamPort}/${name}/v1`;
  const others = `
  busy: { kind: openai, base_url: "${pathOf(busyPath)}", api_key: bench-upstream-key }
  flapping: { kind: openai, base_url: "${pathOf(flappingPath)}", api_key: bench-upstream-key }
  unreachable: { kind: openai, base_url: "http://127.0.0.1:9/v1", api_key: bench-upstream-key }`;
  const routing = `
routing:
  circuits: ${routes?.circuits ?? true}
  routes:
    busy: ${before("busy")}
    flapping: ${before("flapping")}
    unreachable: ${before("unreachable")}
    held: { tiers: [[{ model: openai/bench-model }], [{ model: busy/bench-model }]] }`;
  return `
server: { host: 127.0.0.1, port: ${port}, memory_limit: 32GiB }
realtime: { sessions_per_token: 1000 }
providers:
  openai: { kind: openai, base_url: "http://127.0.0.1:${upstreamPort}/v1", api_key: bench-upstream-key }
  anthropic: { kind: anthropic, base_url: "http://127.0.0.1:${upstreamPort}", api_key: bench-upstream-key }
  google: { kind: google, base_url: "http://127.0.0.1:${upstreamPort}", api_key: bench-upstream-key }${routes === undefined ? "" : others}
pricing:
  models:
    openai/bench-model: { input_mtok: 1, output_mtok: 2 }
    openai/bench-transcriber: { input_audio_hours: 0.36 }
    anthropic/bench-model: { input_mtok: 1, output_mtok: 2 }
    "*/bench-model": { input_mtok: 1, output_mtok: 2 }${routes === undefined ? "" : routing}
`;
}

/** A route whose first target is another provider's. */
const before = (first: string): string =>
  `{ tiers: [[{ model: ${first}/bench-model }], [{ model: openai/bench-model }]] }`;

let starts = 0;

async function start(variant: TollgateVariant, context: ProxyContext): Promise<RunningProxy> {
  const directory = join(context.children.directory, `${variant.id}-${(starts += 1)}`);
  mkdirSync(directory);
  const place = await variant.openStorage(directory, context);
  try {
    return await startOn(variant, context, directory, place);
  } catch (reason) {
    await place.close();
    throw reason;
  }
}

async function startOn(
  variant: TollgateVariant,
  context: ProxyContext,
  directory: string,
  place: StoragePlace,
): Promise<RunningProxy> {
  const port = await freePort();
  const file = join(directory, "tollgate.yaml");
  writeFileSync(file, configuration(port, context.upstreamPort, variant.routes));
  const storage = ["--config", file, "--storage", place.url];
  const token = await createToken(variant, storage);
  for (const each of variant.commands ?? []) await runTollgate(variant.program, [...each, ...storage]);
  const command = [variant.program, "serve", ...storage, "--port", String(port)];
  const spoolFolder = join(directory, "uploads");
  mkdirSync(spoolFolder);
  const environment = { TMPDIR: spoolFolder, ...variant.variables };
  const server = context.children.startServer(variant.id, onProxyCore(context.pinning, command), environment);
  await waitUntilReady(server, port, "/health");
  const headers = { authorization: `Bearer ${token}` };
  const stop = async (): Promise<void> => {
    await server.stop();
    await place.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const models = {
    chat: "openai/bench-model",
    messages: "anthropic/bench-model",
    gemini: "google/bench-model",
    transcription: "openai/bench-transcriber",
  };
  const target = { port, models, headers };
  const { databasePid, file: stateFile } = place;
  return { target, process: server, databasePid, stateFile, spoolFolder, stop };
}

async function createToken(variant: TollgateVariant, storage: string[]): Promise<string> {
  const command = ["token", "create", "--user", "bench", "--credits", "1000000", "--json", ...storage];
  const said = await runTollgate(variant.program, command);
  const answer: unknown = JSON.parse(said);
  if (typeof answer === "object" && answer !== null && "token" in answer) return String(answer.token);
  throw new Error("tollgate token create printed no token");
}

/** Runs a command to its end and returns its output; throws with its error output if it fails. */
async function runTollgate(program: string, command: string[]): Promise<string> {
  const child = Bun.spawn([program, ...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [said, complaint, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`tollgate ${command.slice(0, 2).join(" ")} failed: ${complaint.slice(-1_000)}`);
  return said;
}

/** A column for one storage of Tollgate. */
export function tollgate(variant: TollgateVariant): Proxy {
  const missing = `${variant.program} is not there`;
  return {
    id: variant.id,
    label: () => variant.label,
    setUp: `default configuration: authentication, durable ledger, usage, log to a file; state in ${variant.state}`,
    whyMissing: async () => (existsSync(variant.program) ? null : missing),
    start: (context) => start(variant, context),
  };
}
