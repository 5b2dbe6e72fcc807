import type { AccountsDependencies } from "../accounts/index.ts";
import { openAlertStore } from "../alerts/index.ts";
import { openGenerationStore } from "../generations/index.ts";
import { type Services, TablesHere, TablesThread } from "../http/index.ts";
import { openJobStore } from "../jobs/index.ts";
import { openNodeStore } from "../nodes/index.ts";
import type { Storage } from "../storage/index.ts";

/** The stores that routes read. */
export function storesOf(
  storage: Storage,
  admin: AccountsDependencies,
  tablesThread: TablesThread | undefined,
): Pick<Services, "nodes" | "jobs" | "alerts" | "generations" | "tables"> {
  const generations = openGenerationStore(storage);
  return {
    nodes: openNodeStore(storage),
    jobs: openJobStore(storage),
    alerts: openAlertStore(storage),
    generations,
    tables: tablesThread ?? new TablesHere({ admin, generations }),
  };
}

/** Undefined for a storage that no other thread can open, and for Postgres. It ends with the storage. */
export function tablesThreadOf(storage: Storage): TablesThread | undefined {
  if (storage.engine !== "sqlite" || storage.file === undefined) return undefined;
  const { file, place, timezone } = storage;
  const thread = new TablesThread({ file, place, timezone });
  storage.onClose(() => thread.stop());
  return thread;
}
