import type { Nano } from "../core/index.ts";
import type { Recurrence } from "./periods.ts";

/** A budget's account is in no chain: it stands beside those of the calls that it counts. */
export type AccountKind = "token" | "user" | "organisation" | "project" | "budget";

/** One account of a chain token → user → organisation. */
export interface Account extends Recurrence {
  id: string;
  kind: AccountKind;
  name: string;
  parentId: string | undefined;
  /** Whether the account is limited by its balance of granted credits. */
  prepaid: boolean;
  maxBudget: Nano | undefined;
  /** Of a budget: what may be spent beyond `maxBudget` before `raisedUntil`, in milliseconds since the epoch. */
  raisedBy?: Nano | undefined;
  raisedUntil?: number | undefined;
  /** The factor on the prices of an organisation's calls, in millionths, in place of the configuration's; undefined for that. */
  markup?: number | undefined;
}

/** An account with its counters at one time, and raised only if it is so then. */
export interface AccountState extends Account {
  creditsPosted: Nano;
  debitsPosted: Nano;
  debitsPending: Nano;
  /** Posted debits since the period began. */
  periodDebits: Nano;
}

/** The available credits of one account: the smaller of its balance and its budget, or undefined without a limit. */
export function availableOf(account: AccountState): Nano | undefined {
  const { prepaid, maxBudget, creditsPosted, debitsPosted, debitsPending, periodDebits } = account;
  const balance = prepaid ? creditsPosted - debitsPosted - debitsPending : undefined;
  if (maxBudget === undefined) return balance;
  const budget = maxBudget + (account.raisedBy ?? 0n) - periodDebits - debitsPending;
  return balance === undefined || budget < balance ? budget : balance;
}

/**
 * The account with the least available credits, which is the most that a call can cost. Undefined if the chain has no
 * limit.
 */
export function tightestAccount(chain: readonly AccountState[]): AccountState | undefined {
  let tightest: AccountState | undefined;
  let least: Nano | undefined;
  for (const account of chain) {
    const room = availableOf(account);
    if (room === undefined || (least !== undefined && room >= least)) continue;
    tightest = account;
    least = room;
  }
  return tightest;
}

/** Account ids contain their kind and the id of their holder or token: `user:alice`. */
export function accountId(kind: AccountKind, name: string): string {
  return `${kind}:${name}`;
}

/** The id of the account that follows this one in another place: `user:alice:2`. */
export function movedAccountId(id: string, kind: AccountKind, name: string): string {
  const first = accountId(kind, name);
  const place = id.startsWith(`${first}:`) ? Number(id.slice(first.length + 1)) : 1;
  return `${first}:${place + 1}`;
}

/** The ids of the accounts that this one has followed after moves, the latest first. */
export function accountsBefore(id: string): string[] {
  const [kind = "", name = "", place = "1"] = id.split(":");
  const first = `${kind}:${name}`;
  return Array.from({ length: Number(place) - 1 }, (_, index) =>
    index === 0 ? first : `${first}:${index + 1}`,
  ).toReversed();
}

/** The id of the holder or token that an account belongs to; of one id there may be several accounts after moves. */
export function holderOfAccount(id: string): string {
  return id.split(":", 2)[1] ?? "";
}
