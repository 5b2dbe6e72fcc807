import { join } from "node:path";
import { nginx } from "./nginx.ts";
import { portkey } from "./portkey.ts";
import type { Proxy } from "./proxy.ts";
import { tollgate } from "./tollgate.ts";

export type { Proxy, ProxyContext, RunningProxy, Target } from "./proxy.ts";

/** In the order of the columns, after the one of the upstream itself. */
export function allProxies(tollgateProgram: string): Proxy[] {
  return [nginx, tollgateOnSqlite(tollgateProgram), portkey];
}

function tollgateOnSqlite(program: string): Proxy {
  return tollgate({ id: "tollgate", label: "Tollgate (SQLite)", program, storage: sqliteStorage });
}

function sqliteStorage(directory: string): string {
  return `sqlite:${join(directory, "db")}`;
}
