/**
 * One of the processes of `serve --workers`. Its settings come from the process that started it, on standard input, which
 * stays open for as long as that one wants it to run: where it ends, for whatever reason, the worker drains and exits.
 */
import type { Command } from "commander";
import type { Config } from "../config/index.ts";
import { openStorage } from "../storage/index.ts";
import { createLogger, type Logger } from "../telemetry/index.ts";
import { countOption } from "./options.ts";
import { printJson } from "./print.ts";
import { listen } from "./server/listen.ts";
import { endOnSignal, serveOn } from "./server/serving.ts";

/** What each worker is told, as one line of JSON: all run on what was read once, whatever becomes of the file. */
export interface WorkerSettings {
  config: Config;
  missingKeys: [prefix: string, variable: string][];
  simulated: [prefix: string, url: string][];
  storageUrl: string;
  host: string;
  port: number;
}

export function addWorkerCommand(program: Command): void {
  program.command("worker", { hidden: true }).argument("<number>", "", countOption("worker")).action(work);
}

async function work(number: number): Promise<void> {
  const input = readLineThenEnd(Bun.stdin.stream());
  let end = exit;
  void input.end.then(() => end());
  const settings = JSON.parse(await input.line) as WorkerSettings;
  const { config, missingKeys, simulated, storageUrl, host, port } = settings;
  const logger = numbered(createLogger({ level: config.log.level }), number);
  const storage = await openStorage(storageUrl);
  const stop = serveOn(listen({ host, port, shared: true }), {
    loaded: { config, missingKeys: new Map(missingKeys) },
    storage,
    logger,
    simulated: new Map(simulated),
  });
  end = endOnSignal(async () => {
    const code = await stop();
    logger.flush();
    return code;
  });
  logger.info({ pid: process.pid }, "worker listens");
  printJson({ ready: true });
}

/** What is done instead of draining while there is nothing to drain yet. */
function exit(): void {
  process.exit(0);
}

/** A log whose every line names the worker. */
function numbered(logger: Logger, worker: number): Logger {
  return {
    info: (fields, message) => logger.info({ worker, ...fields }, message),
    warn: (fields, message) => logger.warn({ worker, ...fields }, message),
    error: (fields, message) => logger.error({ worker, ...fields }, message),
    flush: () => logger.flush(),
  };
}

/** The first line of a stream, and its end. Without a whole line there is only the end. */
function readLineThenEnd(stream: ReadableStream<Uint8Array>): { line: Promise<string>; end: Promise<void> } {
  const { promise: line, resolve } = Promise.withResolvers<string>();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text: string | undefined = "";
    for await (const bytes of stream) {
      if (text === undefined) continue;
      text += decoder.decode(bytes, { stream: true });
      const length = text.indexOf("\n");
      if (length === -1) continue;
      resolve(text.slice(0, length));
      text = undefined;
    }
  };
  // A broken pipe is an end like any other.
  return { line, end: read().catch(() => undefined) };
}
