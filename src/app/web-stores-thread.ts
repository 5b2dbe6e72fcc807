/** The program of the thread that has the web's database on SQLite. `web/stores/store-thread.ts` starts it. */
import { parentPort, workerData } from "node:worker_threads";
import type { SqlitePlace } from "../storage/index.ts";
import { openWebDatabase } from "../web/sql/web-database.ts";
import { serveStores } from "../web/stores/serve-stores.ts";

if (parentPort === null) throw new Error("this program is a thread of the gateway");
serveStores(openWebDatabase(workerData as SqlitePlace), parentPort);
