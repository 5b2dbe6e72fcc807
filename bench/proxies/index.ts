import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "../../test/kit/postgres.ts";
import { moveToCores } from "../system/pinning.ts";
import { nginx } from "./nginx.ts";
import { portkey } from "./portkey.ts";
import type { Proxy, ProxyContext } from "./proxy.ts";
import { tollgate } from "./tollgate.ts";
import type { RoutesSetting, StoragePlace, TollgateVariant } from "./tollgate.ts";

export { upstreamModels } from "./proxy.ts";
export type { Proxy, ProxyContext, RunningProxy, Target } from "./proxy.ts";

/** In the order of the columns, after the one of the upstream itself. */
export function allProxies(program: string): Proxy[] {
  return [
    nginx,
    tollgateOnSqlite({ program, id: "tollgate", label: "Tollgate (SQLite)" }),
    tollgate({
      program,
      id: "tollgate-postgres",
      label: "Tollgate (Postgres)",
      state: "a Postgres beside the upstream, fsync on",
      openStorage: newPostgres,
    }),
    portkey,
  ];
}

/** Tollgate with a new file for its state at every start. */
export function tollgateOnSqlite(variant: Pick<TollgateVariant, "id" | "label" | "program">): Proxy {
  return tollgate({ ...variant, state: "a file", openStorage: newFile });
}

async function newFile(directory: string): Promise<StoragePlace> {
  const file = join(directory, "db");
  return { url: `sqlite:${file}`, file, databasePid: null, close: async () => undefined };
}

/**
 * Columns that show the causes of pauses: the same with its file in memory never waits for a disk, and the last one never
 * collects garbage either. Its memory grows by 25 kB a call.
 */
export function pauseVariants(program: string): Proxy[] {
  const inMemory = { program, state: "a file on /dev/shm (tmpfs)", openStorage: newMemoryFile };
  return [
    tollgate({ ...inMemory, id: "tollgate-memory", label: "file on /dev/shm" }),
    tollgate({
      ...inMemory,
      id: "tollgate-uncollected",
      label: "… without garbage collection (BUN_JSC_useGC=0)",
      variables: { BUN_JSC_useGC: "0" },
    }),
  ];
}

/** Columns of the section on routes: without any, with them, and without the circuits that leave out targets that fail. */
export function routesVariants(program: string): Record<"plain" | "routed" | "withoutCircuits", Proxy> {
  const variant = (id: string, routes?: RoutesSetting): Proxy =>
    tollgate({ program, id, label: id, state: "a file", openStorage: newFile, routes });
  return {
    plain: variant("plain"),
    routed: variant("routed", { circuits: true }),
    withoutCircuits: variant("without-circuits", { circuits: false }),
  };
}

const ofUser = ["budget", "create", "--user", "bench", "--max-budget", "1000000"];
const newBudget = (...options: string[]): string[] => [...ofUser, ...options];

/** Columns of the section on budgets: without any, and with four beside each call. */
export function budgetsVariants(program: string): Record<"plain" | "budgeted", Proxy> {
  const common = { program, state: "a file", openStorage: newFile };
  const commands = [
    ["group", "create", "all-of-openai", "--models", "openai/*"],
    newBudget(),
    newBudget("--period", "daily"),
    newBudget("--period", "weekly", "--models", "all-of-openai"),
    newBudget("--period", "monthly", "--models", "all-of-openai"),
  ];
  return {
    plain: tollgate({ ...common, id: "plain", label: "plain" }),
    budgeted: tollgate({ ...common, id: "budgeted", label: "budgeted", commands }),
  };
}

/** Tollgate on a file that `prepare` fills, with a module that is loaded before it. */
export function preparedTollgate(
  program: string,
  prepare: (url: string) => Promise<void>,
  variables: Record<string, string>,
): Proxy {
  const openStorage = async (directory: string): Promise<StoragePlace> => {
    const place = await newFile(directory);
    await prepare(place.url);
    return place;
  };
  return tollgate({ program, id: "prepared", label: "prepared", state: "a file", variables, openStorage });
}

let memoryFiles = 0;

async function newMemoryFile(_directory: string, { children }: ProxyContext): Promise<StoragePlace> {
  const directory = join(children.memoryDirectory(), `${(memoryFiles += 1)}`);
  mkdirSync(directory);
  const file = join(directory, "db");
  const close = async (): Promise<void> => rmSync(directory, { recursive: true, force: true });
  return { url: `sqlite:${file}`, file, databasePid: null, close };
}

/** As in production, its commits wait for the disk. It runs with the upstream, so that the proxy's core is its own. */
async function newPostgres(_directory: string, { pinning }: ProxyContext): Promise<StoragePlace> {
  const server = await startPostgres({ durable: true });
  const processes = server.processIds();
  if (pinning.proxyCore !== null) for (const pid of processes) moveToCores(pid, pinning.otherCores);
  const url = await server.createDatabase();
  return { url, file: null, databasePid: processes[0] ?? null, close: () => server.stop() };
}
