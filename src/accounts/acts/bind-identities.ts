/** The issuers' subjects that are a user, set by hand. */
import type { Steps } from "../../storage/index.ts";
import { AccountError } from "../account-error.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import type { Holder } from "../holder.ts";
import type { Identity } from "../identity.ts";
import { roleRequired } from "../reach.ts";
import { findById } from "../sql/holders.ts";
import { deleteIdentity, findIdentity, identities, putIdentity, selectIdentities } from "../sql/identities.ts";
import { endSessionsBegunWith, findToken, updateToken } from "../sql/tokens.ts";

export type IdentityName = Pick<Identity, "issuer" | "subject">;

/** The identities of a user, as answers and the audit log have them. */
export function* identitiesOf(user: string): Steps<IdentityName[]> {
  const rows = yield selectIdentities([user]);
  return rows.map((row) => nameOf(identities.read(row)));
}

export function nameOf({ issuer, subject }: IdentityName): IdentityName {
  return { issuer, subject };
}

/** Binds these identities and no others to a user. The tokens of those that are taken away are revoked. */
export function* bindSteps(
  { caller, environment }: AccountsDependencies,
  user: Holder,
  { before, wanted }: { before: readonly IdentityName[]; wanted: readonly IdentityName[] },
): Steps<void> {
  // Who binds the identity of somebody else gets their calls, and all that those store.
  if (caller.role !== "owner") throw roleRequired("Only an owner binds identities.");
  const at = environment.clock();
  for (const identity of before.filter((each) => !includes(wanted, each))) {
    const token = (yield* findIdentity(identity))?.tokenId;
    const record = token === undefined ? undefined : yield* findToken(token);
    if (record !== undefined) {
      yield updateToken({ ...record, revokedAt: record.revokedAt ?? at });
      yield endSessionsBegunWith(record.id, at);
    }
    yield deleteIdentity(identity);
  }
  for (const identity of wanted.filter((each) => !includes(before, each))) {
    const other = (yield* findIdentity(identity))?.user;
    const owner = other === undefined ? undefined : yield* findById("user", other);
    if (owner !== undefined) throw new AccountError(`subject ${identity.subject} is user ${owner.name} already`);
    yield putIdentity({ ...nameOf(identity), user: user.id, tokenId: undefined, createdAt: at });
  }
}

function includes(list: readonly IdentityName[], { issuer, subject }: IdentityName): boolean {
  return list.some((each) => each.issuer === issuer && each.subject === subject);
}
