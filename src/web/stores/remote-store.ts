import type { StoreThread } from "./store-thread.ts";
import type { StoreName } from "./thread-protocol.ts";

/** A store with the methods of this class and the ones above, each of which is performed by the thread's own instance. */
export function remoteStore<Store extends object>(
  thread: StoreThread,
  store: StoreName,
  { prototype }: { prototype: Store },
): Store {
  const methods = new Set<string>();
  for (let each: unknown = prototype; each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) methods.add(name);
  methods.delete("constructor");
  const entries = [...methods].map((method) => [
    method,
    async (...args: unknown[]): Promise<unknown> => thread.call({ store, method, args }),
  ]);
  return Object.fromEntries(entries) as Store;
}
