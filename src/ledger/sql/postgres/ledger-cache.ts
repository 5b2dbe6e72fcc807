/**
 * A cache of earlier answers, which saves work on the server: an account's chain never changes, and a hold taken by
 * this process stays the same until it ends. The server verifies everything that is based on it; no decision is made
 * here.
 */
import type { Hold, LedgerOperation, LedgerOutcome } from "../../operations.ts";

/** Cached accounts and open holds; beyond this number the cache is cleared. */
const REMEMBERED_MAX = 100_000;

export interface RememberedHold {
  accountId: string;
  amount: bigint;
  tokens: number;
  at: number;
  /** The retry key that the hold claims. */
  key: string | undefined;
  /** See `Hold`. */
  isPart: boolean;
}

/** A hold's retry key, unique within its account. */
export function keyOf({ accountId, retry }: Hold): string | undefined {
  return retry && keyName(accountId, retry.key);
}

export function keyName(accountId: string, key: string): string {
  return JSON.stringify([accountId, key]);
}

/** An account of a chain. */
export interface ChainAccount {
  id: string;
  parentId: string | undefined;
  /** Sorts like the bytes of the id. */
  order: string;
}

export class LedgerCache {
  readonly #chains = new Map<string, readonly ChainAccount[]>();
  readonly #holds = new Map<string, RememberedHold>();
  readonly #refused = new Set<string>();
  readonly #budgeted = new Set<string>();

  /** The account and its parents, upwards. */
  chain(accountId: string): readonly ChainAccount[] | undefined {
    return this.#chains.get(accountId);
  }

  /** A hold that this process took and has not ended. */
  hold(id: string): RememberedHold | undefined {
    return this.#holds.get(id);
  }

  /** Whether the account's last hold was refused for credits or a limit, so that the next one probably is too. */
  wasRefused(accountId: string): boolean {
    return this.#refused.has(accountId);
  }

  /** Whether the account, or one above it, has budgets beside it: such calls are not plain. */
  isBudgeted(accountId: string): boolean {
    return this.#budgeted.has(accountId);
  }

  learnBudgeted(accountId: string, isBudgeted: boolean): void {
    if (!isBudgeted) return void this.#budgeted.delete(accountId);
    if (this.#budgeted.size >= REMEMBERED_MAX) this.#budgeted.clear();
    this.#budgeted.add(accountId);
  }

  /** The accounts of every chain that the operations need, or undefined if one of them is unknown. */
  linksOf(operations: readonly LedgerOperation[]): string[] | undefined {
    const links = new Set<string>();
    for (const operation of operations) {
      // Only the server knows the results of a sweep.
      if (operation.kind === "sweep") return undefined;
      const accountId = "accountId" in operation ? operation.accountId : this.#holds.get(operation.id)?.accountId;
      const chain = accountId === undefined ? undefined : this.#chains.get(accountId);
      if (chain === undefined) return undefined;
      for (const { id } of chain) links.add(id);
    }
    return [...links];
  }

  /** Adds the holds that were taken or raised, and removes those that ended. */
  learn(operations: readonly LedgerOperation[], outcomes: readonly LedgerOutcome[]): void {
    for (const [index, operation] of operations.entries()) {
      const outcome = outcomes[index]?.outcome;
      if (operation.kind === "hold") this.#learnHold(operation, outcome);
      if ((operation.kind === "top-up" && outcome === "raised") || (operation.kind === "move" && outcome === "moved")) {
        const hold = this.#holds.get(operation.id);
        if (hold !== undefined) hold.amount = operation.amount;
      }
      if (operation.kind === "settle" || operation.kind === "release") this.#holds.delete(operation.id);
    }
  }

  #learnHold(hold: Hold, outcome: LedgerOutcome["outcome"] | undefined): void {
    const { id, accountId, amount, tokens = 0, at, isPart = false } = hold;
    if (outcome === "held") {
      remember(this.#holds, id, { accountId, amount, tokens, at, key: keyOf(hold), isPart });
      this.#refused.delete(accountId);
    }
    if (outcome === "insufficient" || outcome === "limited") {
      if (this.#refused.size >= REMEMBERED_MAX) this.#refused.clear();
      this.#refused.add(accountId);
    }
  }

  /** Adds the chains of accounts, given their parents at the same positions. */
  learnChains(ids: readonly string[], parentIds: readonly (string | null)[]): void {
    const links = new Map<string, ChainAccount>();
    for (const [index, id] of ids.entries()) {
      links.set(id, { id, parentId: parentIds[index] ?? undefined, order: inCodePointOrder(id) });
    }
    for (const id of ids) {
      const chain: ChainAccount[] = [];
      for (let link = links.get(id); link !== undefined; link = links.get(link.parentId ?? "")) chain.push(link);
      remember(this.#chains, id, chain);
    }
  }
}

/**
 * The same text with its surrogates sorted above all other units: compared unit by unit, such texts sort by code
 * points, which is the order of their bytes in UTF-8.
 */
function inCodePointOrder(text: string): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
  });
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= REMEMBERED_MAX) map.clear();
  map.set(key, value);
}
