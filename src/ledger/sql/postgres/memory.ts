/**
 * What earlier answers told, kept to spare the server work: an account's chain never changes, and a hold that this
 * process took stays as it was until it ends. The server checks whatever is built on it; nothing here decides.
 */
import type { LedgerOperation, LedgerOutcome } from "../../operations.ts";
import type { CommitRow } from "./batch.ts";

/** Accounts, and open holds, that are remembered; beyond it everything is forgotten and learnt anew. */
const REMEMBERED_MAX = 100_000;

export interface RememberedHold {
  accountId: string;
  amount: bigint;
}

export class LedgerMemory {
  readonly #chains = new Map<string, readonly string[]>();
  readonly #holds = new Map<string, RememberedHold>();

  /** The account and its parents, upwards. */
  chain(accountId: string): readonly string[] | undefined {
    return this.#chains.get(accountId);
  }

  /** A hold that this process took and has not ended. */
  hold(id: string): RememberedHold | undefined {
    return this.#holds.get(id);
  }

  /** The accounts of every chain that the operations touch, or undefined where one of them is not known. */
  linksOf(operations: readonly LedgerOperation[]): string[] | undefined {
    const links = new Set<string>();
    for (const operation of operations) {
      // What a sweep finds only the server knows.
      if (operation.kind === "sweep") return undefined;
      const accountId = "accountId" in operation ? operation.accountId : this.#holds.get(operation.id)?.accountId;
      const chain = accountId === undefined ? undefined : this.#chains.get(accountId);
      if (chain === undefined) return undefined;
      for (const id of chain) links.add(id);
    }
    return [...links];
  }

  /** Remembers the holds that were taken and forgets those that ended. */
  learn(operations: readonly LedgerOperation[], outcomes: readonly LedgerOutcome[]): void {
    for (const [index, operation] of operations.entries()) {
      if (operation.kind === "hold" && outcomes[index]?.outcome === "held") {
        remember(this.#holds, operation.id, { accountId: operation.accountId, amount: operation.amount });
      }
      if (operation.kind === "settle" || operation.kind === "release") this.#holds.delete(operation.id);
    }
  }

  learnChains({ link_ids: ids, parent_ids: parentIds }: CommitRow): void {
    if (ids === null || parentIds === null) return;
    const parents = new Map(ids.map((id, index) => [id, parentIds[index] ?? undefined]));
    for (const id of ids) {
      const chain: string[] = [];
      for (let link: string | undefined = id; link !== undefined; link = parents.get(link)) chain.push(link);
      remember(this.#chains, id, chain);
    }
  }
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= REMEMBERED_MAX) map.clear();
  map.set(key, value);
}
