/**
 * One of the processes of `serve --workers`. It gets its settings from its parent on standard input, which stays open
 * as long as the worker should run: when it ends, for whatever reason, the worker drains and exits.
 */
import type { Command } from "commander";
import { openOperatorCatalog } from "../app/routing/routing.ts";
import { openStorage } from "../app/storage.ts";
import { createLogger, type ServerLogger } from "../telemetry/index.ts";
import { countOption } from "./options.ts";
import { printJson } from "./print.ts";
import { endOnSignal, HAND_OVER, type Stopping } from "./server/end-on-signal.ts";
import { openWhenReady } from "./server/hand-over.ts";
import { listenShared } from "./server/listen.ts";
import { logRejections } from "./server/log-rejections.ts";
import { serveOn } from "./server/serving.ts";
import { answerMetrics } from "./server/worker-metrics.ts";
import { answerReloads } from "./server/worker-reload.ts";
import { reportCatalog } from "./server/worker-catalog.ts";
import type { WorkerSettings } from "./server/worker-settings.ts";
import { environment, storageSettings } from "./state.ts";

export function addWorkerCommand(program: Command): void {
  program.command("worker", { hidden: true }).argument("<number>", "", countOption("worker")).action(work);
}

async function work(number: number): Promise<void> {
  const input = readLineThenEnd(Bun.stdin.stream());
  let end: (how?: Stopping) => void = exit;
  void input.end.then(() => end());
  const settings = JSON.parse(await input.line) as WorkerSettings;
  const { config, missingKeys, simulated, storageUrl, processes, toolHost } = settings;
  const logger = numbered(createLogger(config.log), number);
  const storage = await openStorage(storageUrl, storageSettings(config));
  const catalog = await openOperatorCatalog(config, { storage, environment, logger });
  // The parent's signal: a terminal sends it to all of its processes.
  process.on("SIGHUP", () => undefined);
  const server = listenShared(settings, logger);
  const { stop, isReady, metrics, catalogHash, reconfigure } = serveOn(server, {
    loaded: { config, missingKeys: new Map(missingKeys) },
    storage,
    logger,
    catalog,
    simulated: new Map(simulated),
    toolHost,
    processes,
  });
  logRejections(logger);
  const reportLast = answerMetrics(metrics);
  reportCatalog(catalogHash);
  answerReloads(async ({ config: next, missingKeys: missing, simulated: routes, refreshesCatalog }) => {
    try {
      const loaded = { config: next, missingKeys: new Map(missing) };
      await reconfigure({ loaded, simulated: new Map(routes), refreshesCatalog });
    } catch (thrown) {
      logger.error({ reason: String(thrown) }, "the configuration can't be put into force");
      throw thrown;
    }
  });
  process.on("message", (message) => {
    if (message === HAND_OVER) end({ handsOver: true });
  });
  end = endOnSignal(async (how) => {
    const code = await stop(how);
    await reportLast();
    logger.flush();
    return code;
  });
  if (settings.later) await openWhenReady(server, { isReady });
  logger.info({ pid: process.pid }, "worker listens");
  printJson({ ready: true });
}

/** Replaces draining while there is nothing to drain yet. */
function exit(): void {
  process.exit(0);
}

/** A log whose lines contain the worker's number. */
function numbered(logger: ServerLogger, worker: number): ServerLogger {
  return {
    info: (fields, message) => logger.info({ worker, ...fields }, message),
    warn: (fields, message) => logger.warn({ worker, ...fields }, message),
    error: (fields, message) => logger.error({ worker, ...fields }, message),
    flush: () => logger.flush(),
    setLevel: (level) => logger.setLevel(level),
  };
}

/** The first line of a stream, and its end. Without a complete line there is only the end. */
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
  // A broken pipe is treated like any other end.
  return { line, end: read().catch(() => undefined) };
}
