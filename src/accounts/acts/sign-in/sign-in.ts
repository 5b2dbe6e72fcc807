/** Callers whose token somebody else has signed: the user and the stored token that stand for them. */
import type { NoteChange } from "../../../audit/index.ts";
import { GatewayError } from "../../../core/index.ts";
import type { Steps } from "../../../storage/index.ts";
import type { AccountsDependencies } from "../../dependencies.ts";
import type { Holder } from "../../holder.ts";
import type { Identity } from "../../identity.ts";
import { findHolder, findById } from "../../sql/holders.ts";
import { findIdentity, putIdentity } from "../../sql/identities.ts";
import { issueSteps } from "../create-token.ts";
import { createHolder } from "../ensure-holder.ts";

interface NewUser {
  name: string;
  /** By id or name. */
  organisation: string | undefined;
}

export interface SignInRequest extends Pick<Identity, "issuer" | "subject"> {
  /** The name of the issuer in the configuration. */
  name: string;
  /** The user who is made at first sight; undefined if nobody is. May throw a 401. */
  newUser: () => NewUser | undefined;
}

/**
 * The id of the token that stands for the caller, who is made and bound at first sight if that is permitted. Rejects with a
 * `GatewayError` (401) otherwise.
 */
export async function signIn(deps: AccountsDependencies, request: SignInRequest): Promise<string> {
  const known = await deps.holders.identity(request);
  if (known?.tokenId !== undefined) return known.tokenId;
  const newUser = known === undefined ? request.newUser() : undefined;
  // Strangers may come often: they are refused without the lock of an act.
  if (known === undefined && newUser === undefined) throw unbound(request);
  if (newUser !== undefined && (await deps.holders.find("user", newUser.name)) !== undefined) throw taken(newUser.name);
  return deps.log.act({ actor: deps.caller.actor }, (note) => signInSteps(deps, { ...request, newUser }, note));
}

type SignInWith = Omit<SignInRequest, "newUser"> & { newUser: NewUser | undefined };

function* signInSteps(deps: AccountsDependencies, request: SignInWith, note: NoteChange): Steps<string> {
  const { issuer, subject, name } = request;
  const known = yield* findIdentity({ issuer, subject });
  if (known?.tokenId !== undefined) return known.tokenId;
  // The act is one row: the user and the token that it makes are parts of it.
  const made: { user?: object | undefined } = {};
  const user =
    known === undefined
      ? yield* makeUser(deps, request, ({ after }) => void (made.user = after))
      : yield* findById("user", known.user);
  if (user === undefined) throw refused("The user of this caller is deleted.");
  if (user.accountId === undefined) throw refused(`User ${user.name} has only service tokens.`);
  // A role comes from the configuration alone: of all roles, the stored token has the least.
  const { id } = yield* issueSteps(deps, user, { role: "member", name: `issuer ${name}` }, () => undefined);
  yield putIdentity({ issuer, subject, user: user.id, tokenId: id, createdAt: deps.environment.clock() });
  note({ act: "user.sign_in", target: `user:${user.id}`, after: { issuer, subject, token_id: id, ...made } });
  return id;
}

function* makeUser(deps: AccountsDependencies, request: SignInWith, note: NoteChange): Steps<Holder> {
  if (request.newUser === undefined) throw unbound(request);
  const { name: user, organisation } = request.newUser;
  if ((yield* findHolder("user", user)) !== undefined) throw taken(user);
  const place = organisation === undefined ? undefined : yield* findHolder("organisation", organisation);
  if (organisation !== undefined && place === undefined)
    throw refused("There is no organisation of the name that the caller's token has.");
  return yield* createHolder(deps, { kind: "user", name: user, organisation: place }, note);
}

function unbound({ name }: Pick<SignInRequest, "name">): GatewayError {
  return refused(`The caller of issuer ${name} is bound to no user.`);
}

/** A claim must not let anybody be a user whom somebody else has made. */
function taken(user: string): GatewayError {
  return refused(`There is a user ${user}, who is not bound to the caller: an owner can bind them by identities.`);
}

function refused(message: string): GatewayError {
  return new GatewayError("invalid_token", message);
}
