/**
 * Loaded before a gateway: while the file of the variable `SQLITE_THROWS` exists, every statement throws at once, as SQLite does.
 * Timers of a second and more run sixty times as often, so that a minute's is due each second.
 */
import { Database, Statement } from "bun:sqlite";
import { existsSync } from "node:fs";

const flag = process.env["SQLITE_THROWS"] ?? "";

function throwIfBroken(): void {
  if (existsSync(flag)) throw new Error("disk I/O error");
}

/** Statements have their methods as members of their own. */
function breakable<Made extends Statement>(statement: Made): Made {
  return new Proxy(statement, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...values: unknown[]): unknown => {
        throwIfBroken();
        return Reflect.apply(value, target, values);
      };
    },
  });
}

function breakMethod(name: "run" | "query" | "prepare"): void {
  const own: unknown = Object.getOwnPropertyDescriptor(Database.prototype, name)?.value;
  if (typeof own !== "function") throw new Error(`bun:sqlite has no ${name}`);
  Object.defineProperty(Database.prototype, name, {
    value(this: Database, ...values: unknown[]): unknown {
      throwIfBroken();
      const made: unknown = Reflect.apply(own, this, values);
      return made instanceof Statement ? breakable(made) : made;
    },
  });
}

for (const name of ["run", "query", "prepare"] as const) breakMethod(name);

const every = globalThis.setInterval;
Object.assign(globalThis, {
  setInterval: (call: () => void, ms = 0) => every(call, ms >= 1_000 ? ms / 60 : ms),
});
