/** Entries and open holds, with whose they are. */
import { creditsNumber } from "../core/index.ts";
import {
  accountId,
  type AccountState,
  type EntryKind,
  type EntryPeriod,
  holderOfAccount,
  type ListedEntry,
  type ListedHold,
} from "../ledger/index.ts";
import { creditsOrNull } from "./budget-json.ts";
import type { AccountName, AccountsDependencies } from "./dependencies.ts";
import { findHolderState, findTokenState } from "./find-state.ts";
import { reachesAll } from "./reach.ts";

export interface BookPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Of this owner and what is below it. */
  owner?: AccountName | undefined;
}

export interface EntriesPage extends BookPage {
  kind?: EntryKind | undefined;
}

/** The accounts that a page is about, as far as the caller reaches them. Throws 404 for an owner out of reach. */
async function accountsIn(deps: AccountsDependencies, { owner }: Pick<BookPage, "owner">) {
  const { caller } = deps;
  const own = reachesAll(caller) ? undefined : accountId("organisation", caller.organisation ?? "");
  return { within: own, account: owner && accountId(owner.kind, await idOf(deps, owner)) };
}

async function idOf(deps: AccountsDependencies, { kind, name }: AccountName): Promise<string> {
  if (kind === "token") return (await findTokenState(deps, name)).token.id;
  return (await findHolderState(deps, { kind, name })).holder.id;
}

/** The latest entries of the caller's reach. Throws 404 if the owner is out of it. */
export async function listEntries(deps: AccountsDependencies, page: EntriesPage) {
  const { limit, after, kind } = page;
  const { entries, scannedFrom } = await deps.books.entries({ ...(await accountsIn(deps, page)), limit, after, kind });
  return { entries: await shownTo(deps, entries), scannedFrom };
}

/** Entries as the caller sees them. */
async function shownTo(deps: AccountsDependencies, entries: readonly ListedEntry[]) {
  const places = await placesOf(deps, entries.map(payerOf));
  const shown = reachesAll(deps.caller) ? entries : entries.map(withoutActor);
  return shown.map((entry) => entryJson(entry, places.of(payerOf(entry))));
}

interface EntriesPeriod extends Pick<EntryPeriod, "from" | "to"> {
  owner?: AccountName | undefined;
}

/** All entries of a time in the caller's reach, part by part, the latest first. Throws 404 if the owner is out of it. */
export async function* entriesOf(deps: AccountsDependencies, { owner, from, to }: EntriesPeriod) {
  const accounts = await accountsIn(deps, { owner });
  for await (const entries of deps.books.parts({ ...accounts, from, to })) yield await shownTo(deps, entries);
}

/** Open holds of the caller's reach. Throws 404 if the owner is out of it. */
export async function listHolds(deps: AccountsDependencies, page: BookPage) {
  const { limit, after } = page;
  const holds = await deps.books.holds({ ...(await accountsIn(deps, page)), limit, after });
  const places = await placesOf(
    deps,
    holds.map((hold) => hold.accountId),
  );
  return holds.map((hold) => holdJson(hold, places.of(hold.accountId)));
}

/** Who granted or refunded, and why, is for those who see all: it may name people and matters of other organisations. */
const withoutActor = (entry: ListedEntry): ListedEntry => ({ ...entry, actor: undefined, reason: undefined });

/** The accounts on the other side of all entries. */
const sides = new Set(["bank", "revenue"]);

function payerOf({ debitAccount, creditAccount }: ListedEntry): string {
  return sides.has(debitAccount) ? creditAccount : debitAccount;
}

/** Whose accounts these are, by the names that they have now. */
async function placesOf({ ledger, environment }: AccountsDependencies, ids: readonly string[]) {
  const found = new Map<string, AccountState>();
  // From the tokens upwards.
  for (let missing = [...new Set(ids)]; missing.length > 0;) {
    const accounts = await ledger.read(missing, environment.clock());
    for (const account of accounts) found.set(account.id, account);
    const parents = new Set(accounts.flatMap(({ parentId }) => parentId ?? []));
    missing = [...parents].filter((id) => !found.has(id));
  }
  return {
    of(id: string) {
      const chain: AccountState[] = [];
      for (let account = found.get(id); account !== undefined; account = found.get(account.parentId ?? ""))
        chain.push(account);
      return placeJson(chain);
    },
  };
}

const idOrNull = (account: AccountState | undefined): string | null =>
  account === undefined ? null : holderOfAccount(account.id);

/** Ids and names of each level; null for none. Of a token the id is its name. */
function placeJson(chain: readonly AccountState[]) {
  const at = (kind: AccountState["kind"]) => chain.find((account) => account.kind === kind);
  const [organisation, user, project, token] = [at("organisation"), at("user"), at("project"), at("token")];
  return {
    organisation: organisation?.name ?? null,
    organisation_id: idOrNull(organisation),
    user: user?.name ?? null,
    user_id: idOrNull(user),
    project: project?.name ?? null,
    project_id: idOrNull(project),
    token: idOrNull(token),
  };
}

const budgetIds = (budgets: readonly string[] | undefined): string[] => (budgets ?? []).map(holderOfAccount);

function entryJson(entry: ListedEntry, place: ReturnType<typeof placeJson>) {
  const { id, kind, amount, held, shortfall, actor = null, reason = null, budgets, createdAt } = entry;
  return {
    object: "entry" as const,
    id,
    kind,
    ...place,
    debit_account: entry.debitAccount,
    credit_account: entry.creditAccount,
    amount: creditsNumber(amount),
    held: creditsNumber(held),
    shortfall: creditsNumber(shortfall),
    budgets: budgetIds(budgets),
    actor,
    reason,
    created_at: new Date(createdAt).toISOString(),
  };
}

function holdJson(hold: ListedHold, place: ReturnType<typeof placeJson>) {
  const { id, amount, operation, provider, model, observed, keeper, parent = null, budgets } = hold;
  return {
    object: "hold" as const,
    id,
    ...place,
    account: hold.accountId,
    amount: creditsNumber(amount),
    observed: creditsOrNull(observed),
    operation,
    model: `${provider}/${model}`,
    keeper,
    parent_id: parent,
    budgets: budgetIds(budgets),
    created_at: new Date(hold.createdAt).toISOString(),
    lease_until: new Date(hold.leaseUntil).toISOString(),
  };
}
