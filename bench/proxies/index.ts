import { join } from "node:path";
import { startPostgres } from "../../test/kit/postgres.ts";
import { moveToCores } from "../system/pinning.ts";
import { nginx } from "./nginx.ts";
import { portkey } from "./portkey.ts";
import type { Proxy, ProxyContext } from "./proxy.ts";
import { type StoragePlace, tollgate } from "./tollgate.ts";

export { upstreamModels } from "./proxy.ts";
export type { Proxy, ProxyContext, RunningProxy, Target } from "./proxy.ts";

/** In the order of the columns, after the one of the upstream itself. */
export function allProxies(tollgateProgram: string): Proxy[] {
  const variant = { program: tollgateProgram };
  return [
    nginx,
    tollgate({ ...variant, id: "tollgate", label: "Tollgate (SQLite)", state: "a file", openStorage: newFile }),
    tollgate({
      ...variant,
      id: "tollgate-postgres",
      label: "Tollgate (Postgres)",
      state: "a Postgres beside the upstream, fsync on",
      openStorage: newPostgres,
    }),
    portkey,
  ];
}

async function newFile(directory: string): Promise<StoragePlace> {
  return { url: `sqlite:${join(directory, "db")}`, databasePid: null, close: async () => undefined };
}

/** As in production, its commits wait for the disk. It stands with the upstream, so that the proxy's core is its own. */
async function newPostgres(_directory: string, { pinning }: ProxyContext): Promise<StoragePlace> {
  const server = await startPostgres({ durable: true });
  const processes = server.processIds();
  if (pinning.proxyCore !== null) for (const pid of processes) moveToCores(pid, pinning.otherCores);
  return { url: await server.createDatabase(), databasePid: processes[0] ?? null, close: () => server.stop() };
}
