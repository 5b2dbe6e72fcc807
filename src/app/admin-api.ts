/** The admin API for commands on a storage. */
import type { AccountsDependencies } from "../accounts/index.ts";
import { BatchDirectory } from "../batches/index.ts";
import { openGenerationStore } from "../generations/index.ts";
import { type AdminApi, createAdminApi } from "../http/admin/index.ts";
import { openNodeStore } from "../nodes/index.ts";
import { SessionDirectory } from "../realtime/open/index.ts";
import type { Storage } from "../storage/index.ts";
import { MemoryBudget } from "../streaming/index.ts";

/** Bytes of a body, which the command has in its memory already. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** A body that is there arrives at once. */
const withoutTicks = { now: () => 0, watch: () => undefined, leave: () => undefined };

/** The routes of the admin API on a storage, for the caller of the dependencies. */
export function createStorageApi(storage: Storage, accounts: AccountsDependencies): AdminApi {
  return createAdminApi({
    admin: accounts,
    caller: accounts.caller,
    addressOf: () => undefined,
    body: { bytesMax: BODY_BYTES_MAX, arrivalMsMax: 60_000, ticker: withoutTicks },
    memory: new MemoryBudget(2 * BODY_BYTES_MAX),
    clock: accounts.environment.clock,
    generations: openGenerationStore(storage),
    nodes: openNodeStore(storage),
    batchDirectory: new BatchDirectory({ storage, log: accounts.log, clock: accounts.environment.clock }),
    sessionDirectory: new SessionDirectory({ storage, log: accounts.log, clock: accounts.environment.clock }),
  });
}
