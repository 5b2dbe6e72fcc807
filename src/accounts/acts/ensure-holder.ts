/**
 * Credits belong to the top of a chain: to an organisation, or to a user without one. The levels below only have
 * budgets. Each charge counts on every level, so a second balance on the way would charge twice.
 */
import type { NoteChange } from "../../audit/index.ts";
import { randomId, type Role } from "../../core/index.ts";
import { type Account, accountId } from "../../ledger/index.ts";
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { type Holder, type HolderKind, oneOfKind } from "../holder.ts";
import { settingsOf } from "../settings.ts";
import { findHolder, hasHolder, insertHolder, updateHolder } from "../sql/holders.ts";

type Dependencies = Pick<AccountsDependencies, "ledger" | "environment">;

const ID_CHARACTERS = 16;

export interface NewHolder {
  kind: HolderKind;
  name: string;
  role?: Role | undefined;
  organisation?: Holder | undefined;
  /** Whether it gets an account; a user with service tokens alone needs none. */
  hasAccount?: boolean;
  /** Of one at the top of its chain: whether its credits limit it, which they do by default. */
  prepaid?: boolean | undefined;
}

/** Creates a holder with its account. Throws an `AccountError` if the name is taken. */
export function* createHolder(deps: Dependencies, wanted: NewHolder, note: NoteChange): Steps<Holder> {
  const {
    kind,
    name,
    role = kind === "user" ? "member" : undefined,
    organisation,
    hasAccount = true,
    prepaid,
  } = wanted;
  if ((yield* findHolder(kind, name)) !== undefined)
    throw new AccountError(`there is ${oneOfKind(kind)} ${name} already`, "name_taken");
  const at = deps.environment.clock();
  const isFree = !(yield* hasHolder(kind, name)) && (yield* deps.ledger.chain(accountId(kind, name), at)).length === 0;
  const id = isFree ? name : `${kind}_${randomId(deps.environment.randomBytes, ID_CHARACTERS)}`;
  const holder: Holder = {
    kind,
    id,
    name,
    role,
    organisationId: organisation?.id,
    accountId: undefined,
    disabledAt: undefined,
    deletedAt: undefined,
    createdAt: at,
    version: 1,
    models: undefined,
    rpm: undefined,
    tpm: undefined,
    concurrency: undefined,
    expiresAt: undefined,
  };
  if (!hasAccount) {
    yield insertHolder(holder);
    note({ act: `${kind}.create`, target: `${kind}:${id}`, after: settingsOf(holder, undefined) });
    return holder;
  }
  const account = newAccount(holder, organisation, prepaid);
  yield* deps.ledger.create(account, at);
  const held = { ...holder, accountId: account.id };
  yield insertHolder(held);
  note({ act: `${kind}.create`, target: `${kind}:${id}`, after: settingsOf(held, account) });
  return held;
}

/** The organisation of this name, which is created if there is none. */
export function* ensureOrganisation(deps: Dependencies, name: string, note: NoteChange): Steps<Holder> {
  return (yield* findHolder("organisation", name)) ?? (yield* createHolder(deps, { kind: "organisation", name }, note));
}

interface EnsuredUser {
  name: string;
  /** Of a new user; an existing one must be in it. */
  organisation?: string | undefined;
  role?: Role | undefined;
  hasAccount: boolean;
}

/**
 * The user of this name. A new one is created, in the organisation if one is given. Throws an `AccountError` if the user already
 * belongs to another one: spending counts for an account's parents, so it does not change its place.
 */
export function* ensureUser(deps: Dependencies, wanted: EnsuredUser, note: NoteChange): Steps<Holder> {
  const { name, organisation, role, hasAccount } = wanted;
  const user = yield* findHolder("user", name);
  if (user === undefined) {
    const place = organisation === undefined ? undefined : yield* ensureOrganisation(deps, organisation, note);
    return yield* createHolder(deps, { kind: "user", name, role, organisation: place, hasAccount }, note);
  }
  // The user of a service has no account, and so no place yet.
  if (user.accountId === undefined && hasAccount) {
    const place = organisation === undefined ? undefined : yield* ensureOrganisation(deps, organisation, note);
    return yield* giveAccount(deps, { user, place }, note);
  }
  if (organisation === undefined) return user;
  const place = yield* findHolder("organisation", organisation);
  if (place === undefined || place.id !== user.organisationId) throw elsewhere(user, organisation);
  return user;
}

function* giveAccount(
  { ledger, environment }: Dependencies,
  { user, place }: { user: Holder; place: Holder | undefined },
  note: NoteChange,
): Steps<Holder> {
  const account = newAccount(user, place);
  yield* ledger.create(account, environment.clock());
  const held = { ...user, organisationId: place?.id, accountId: account.id };
  yield updateHolder(held);
  const target = `user:${user.id}`;
  note({ act: "user.change", target, before: settingsOf(user, undefined), after: settingsOf(held, account) });
  return held;
}

function elsewhere({ name, organisationId }: Holder, organisation: string): AccountError {
  const place = organisationId === undefined ? "is in no organisation" : `is in organisation ${organisationId}`;
  return new AccountError(`user ${name} ${place}, not in ${organisation}: move them first`);
}

function newAccount({ kind, id, name }: Holder, organisation: Holder | undefined, prepaid = true): Account {
  return {
    id: accountId(kind, id),
    kind,
    name,
    parentId: organisation?.accountId,
    prepaid: organisation === undefined && prepaid,
    maxBudget: undefined,
    period: undefined,
  };
}
