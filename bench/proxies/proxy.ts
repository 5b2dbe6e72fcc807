import type { Children, ServerProcess } from "../system/children.ts";
import type { Pinning } from "../system/pinning.ts";
import type { UpstreamDialect } from "../upstream/protocol.ts";

export interface ProxyContext {
  upstreamPort: number;
  children: Children;
  pinning: Pinning;
}

/** A request's form for this proxy. */
export interface Target {
  port: number;
  /** The requested model's name, by the upstream's name. */
  models: Readonly<Record<UpstreamDialect | "transcription", string>>;
  headers: Record<string, string>;
}

/** The upstream's own names of its models. */
export const upstreamModels: Target["models"] = {
  chat: "bench-model",
  messages: "bench-model",
  gemini: "bench-model",
  transcription: "bench-transcriber",
};

export interface RunningProxy {
  target: Target;
  process: ServerProcess;
  /** The first process of a separate database, which runs with the upstream and the load generator. */
  databasePid: number | null;
  /** The folder for the bytes of large requests, which the proxy must clean up; null if it keeps them in memory. */
  spoolFolder: string | null;
  /** The file of its state, if it is a SQLite file. */
  stateFile: string | null;
  /** Ends it, and the processes started for it. */
  stop(): Promise<void>;
}

/** A column of the report. */
export interface Proxy {
  id: string;
  /** May hold a version, so it is only right once `whyMissing` has been asked. */
  label(): string;
  /** How it is set up, for the report. */
  setUp: string;
  /** Null if it can be measured here. May install packages. */
  whyMissing(): Promise<string | null>;
  /** Resolves when the proxy answers. Every start is a fresh instance. */
  start(context: ProxyContext): Promise<RunningProxy>;
}

const readyMs = 20_000;
const pollMs = 3;

/** Waits until `path` is answered with 200. Throws with the end of the server's log when it ends or takes too long. */
export async function waitUntilReady(
  server: ServerProcess,
  port: number,
  path: string,
  msMax = readyMs,
): Promise<void> {
  const deadline = performance.now() + msMax;
  while (performance.now() < deadline) {
    server.assertRunning();
    if (await answers(port, path)) return;
    await Bun.sleep(pollMs);
  }
  throw new Error(`no answer on ${path} within ${msMax} ms: ${server.logTail()}`);
}

async function answers(port: number, path: string): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { keepalive: false });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
