/** Loaded before a gateway: while the file of the variable `UNREADY` exists, its storage takes no write of the readiness check. */
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";

const flag = process.env["UNREADY"] ?? "";
const query: unknown = Object.getOwnPropertyDescriptor(Database.prototype, "query")?.value;
if (typeof query !== "function") throw new Error("bun:sqlite has no query");
Object.defineProperty(Database.prototype, "query", {
  value(this: Database, text: string): unknown {
    if (text.includes("INTO readiness") && existsSync(flag)) throw new Error("disk I/O error");
    return Reflect.apply(query, this, [text]) as unknown;
  },
});
