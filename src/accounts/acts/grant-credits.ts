import type { NoteChange } from "../../audit/index.ts";
import { creditsNumber, formatCredits, limits, type Nano, randomId } from "../../core/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import type { AccountName, AccountsDependencies, Caller } from "../dependencies.ts";
import { ensureOrganisation, ensureUser } from "./ensure-holder.ts";
import { requireOwnCredits } from "./own-credits.ts";
import type { Holder, HolderKind } from "../holder.ts";
import { findHolder } from "../sql/holders.ts";

/** An account that can own credits. */
export interface CreditsOwner extends AccountName {
  kind: HolderKind;
}

interface GrantOptions {
  reason?: string | undefined;
  /** The entry's: a grant that is repeated with the same id counts once. */
  id?: string | undefined;
  /** The caller's own key of the request, instead of an id. */
  key?: string | undefined;
  /** Whether a missing account is created to get credits; true by default. */
  createsHolder?: boolean;
  /** Nothing is changed; the answer is the same as if it were. */
  dryRun?: boolean | undefined;
}

/** A grant, repeated or not. */
export interface PostedCredits {
  /** The id of the entry. */
  entry: string;
  holder: Holder;
  balance: Nano;
}

/**
 * Posts credits to a user or an organisation and returns the new balance. An amount below zero takes credits back, as far
 * as they are neither spent nor held. A missing account is created to get credits. Throws an `AccountError`, and changes
 * nothing, for a user who pays with an organisation's credits, if there are not as many credits to take, or if another
 * grant has the id.
 */
export async function grantCredits(
  deps: AccountsDependencies,
  owner: CreditsOwner,
  amount: Nano,
  options: GrantOptions = {},
): Promise<Nano> {
  return (await postCredits(deps, owner, amount, options)).balance;
}

/** The same; also throws if a key or an id was used with another amount, owner or reason (409). */
export function postCredits(
  deps: AccountsDependencies,
  owner: CreditsOwner,
  amount: Nano,
  { reason = "none given", id, key, createsHolder = true, dryRun = false }: GrantOptions = {},
): Promise<PostedCredits> {
  const { caller, environment } = deps;
  const entry = id ?? (key === undefined ? `grant_${randomId(environment.randomBytes, 20)}` : idOfKey(caller, key));
  return deps.log.act({ actor: caller.actor, reason, dryRun }, function* (note) {
    const isNew = createsHolder && amount > 0n;
    const holder = yield* isNew ? ensureHolder(deps, owner, note) : requireHolder(owner);
    requireOwnCredits(holder);
    const balance = yield* grantSteps(deps, holder, { amount, reason, id: entry }, note);
    if (key !== undefined && (yield* deps.ledger.reasonOf(entry)) !== reason) throw keyReused();
    return { entry, holder, balance };
  });
}

/** Keys of different users never meet. */
function idOfKey({ user, actor }: Caller, key: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([user ?? actor.name, key])).digest("hex");
  return `grant_${hash.slice(0, 40)}`;
}

function keyReused(): AccountError {
  return new AccountError("The Idempotency-Key belongs to another request.", "idempotency_key_reused");
}

interface Granted {
  amount: Nano;
  reason: string;
  id?: string | undefined;
}

/** Posts credits to a holder that owns its credits, and returns the new balance. */
export function* grantSteps(
  { ledger, environment, caller }: AccountsDependencies,
  holder: Holder,
  { amount, reason, id = `grant_${randomId(environment.randomBytes, 20)}` }: Granted,
  note: NoteChange,
): Steps<Nano> {
  const { kind, name, accountId = "" } = holder;
  const at = environment.clock();
  const shown = `${kind} ${name}`;
  const [before] = yield* ledger.chain(accountId, at);
  if ((before?.creditsPosted ?? 0n) + amount > limits.accountNanoMax)
    throw new AccountError(`${shown} can't have more than ${formatCredits(limits.accountNanoMax)} credits in all`);
  const actor = caller.actor.name;
  const granted = yield* ledger.apply({ kind: "grant", id, accountId, amount, at, actor, reason });
  if (granted.outcome === "insufficient") {
    const left = formatCredits(granted.available > 0n ? granted.available : 0n);
    throw new AccountError(`${shown} has only ${left} credits that are neither spent nor held; nothing was taken back`);
  }
  if (granted.outcome === "conflict")
    throw new AccountError(`the grant ${id} was another one`, "idempotency_key_reused");
  if (granted.outcome === "no-account") throw new Error(`grant to ${accountId}: ${granted.outcome}`);
  const [after] = yield* ledger.chain(accountId, at);
  const balance = after === undefined ? 0n : after.creditsPosted - after.debitsPosted;
  const amounts = { entry: id, amount: creditsNumber(amount), balance: creditsNumber(balance) };
  if (granted.outcome === "granted") note({ act: "credits.grant", target: `${kind}:${holder.id}`, after: amounts });
  return balance;
}

/** A project has members, and so is made before. */
function ensureHolder(deps: AccountsDependencies, { kind, name }: CreditsOwner, note: NoteChange): Steps<Holder> {
  if (kind === "organisation") return ensureOrganisation(deps, name, note);
  if (kind === "project") return requireHolder({ kind, name });
  return ensureUser(deps, { name, hasAccount: true }, note);
}

function* requireHolder({ kind, name }: CreditsOwner): Steps<Holder> {
  const holder = yield* findHolder(kind, name);
  if (holder?.accountId === undefined) throw new AccountError(`there is no ${kind} ${name}`, "account_not_found");
  return holder;
}
