/** A browser signs in: a session with a token of its own, whose secret nobody has. */
import {
  type BrowserSession,
  browserSessions,
  findImportedKey,
  insertBrowserSession,
  issueSecret,
  SESSION_PREFIX,
} from "../../../auth/index.ts";
import { GatewayError } from "../../../core/index.ts";
import type { Steps } from "../../../storage/index.ts";
import type { NoteChange } from "../../../audit/index.ts";
import type { AccountsDependencies } from "../../dependencies.ts";
import type { Holder } from "../../holder.ts";
import { roleRequired } from "../../reach.ts";
import { findOwner } from "../../sql/holders.ts";
import { findSession, selectOldSessions } from "../../sql/sessions.ts";
import { findToken } from "../../sql/tokens.ts";
import { AccountError } from "../../account-error.ts";
import { issueSteps } from "../create-token.ts";
import { endSteps } from "./end-session.ts";

/** The open sessions of a user; the oldest beyond them end. */
const SESSIONS_MAX = 20;

export interface SessionRequest extends Pick<
  BrowserSession,
  "sourceId" | "sourceHash" | "issuer" | "role" | "signedUntil" | "provedAt" | "address" | "agent"
> {
  /** Of the imported key that was presented: the session ends with that. */
  keyHash?: Uint8Array | undefined;
  /** How long it lasts at most, in milliseconds. */
  msMax: number;
  /** The id of the session that the same browser has had, which ends. */
  replaces: string | undefined;
}

export interface BegunSession {
  session: BrowserSession;
  user: Holder;
  /** The value of the cookie, shown once. */
  secret: string;
}

/**
 * Begins a session of the user of a token, with its rights and limits. Its account is below the token's: what it spends counts for the
 * token too. Throws an `AccountError` for a project's token, which is nobody's.
 */
export function beginSession(deps: AccountsDependencies, request: SessionRequest): Promise<BegunSession> {
  return deps.log.act({ actor: deps.caller.actor }, (note) => beginSteps(deps, request, note));
}

function* beginSteps(deps: AccountsDependencies, request: SessionRequest, note: NoteChange): Steps<BegunSession> {
  const { msMax, replaces, sourceId, keyHash, ...facts } = request;
  const source = yield* findToken(sourceId);
  const user = source && (yield* findOwner(source.user));
  if (source === undefined || user === undefined) throw new AccountError("The token has no user.", "account_not_found");
  if (user.kind !== "user") throw roleRequired(`The token is one of ${user.kind} ${user.name}: users sign in.`);
  const at = deps.environment.clock();
  const signedUntil = keyHash === undefined ? request.signedUntil : yield* endOfKey(keyHash, at);
  const expiresAt = Math.min(at + msMax, signedUntil ?? Infinity, source.expiresAt ?? Infinity);
  const before = replaces === undefined ? undefined : yield* findSession(replaces);
  const { id, text: secret, secretHash } = issueSecret(SESSION_PREFIX, deps.environment.randomBytes);
  const ending = { at, endedBy: `session:${id}` };
  if (before !== undefined) yield* endSteps(before, ending, note);
  const old = (yield selectOldSessions(user.id, SESSIONS_MAX - 1, at)).map((row) => browserSessions.read(row));
  for (const each of old) yield* endSteps(each, ending, note);
  const wanted = { name: "session", sessionOf: source, service: source.service, expiresAt };
  const { id: tokenId } = yield* issueSteps(deps, user, wanted, () => undefined);
  const session: BrowserSession = {
    ...facts,
    id,
    secretHash,
    tokenId,
    userId: user.id,
    sourceId,
    signedUntil,
    agent: facts.agent?.slice(0, AGENT_CHARACTERS_MAX).toWellFormed(),
    createdAt: at,
    seenAt: at,
    expiresAt,
  };
  yield insertBrowserSession(session);
  const { issuer = null } = request;
  note({
    act: "session.begin",
    target: `session:${id}`,
    after: { user_id: user.id, token_id: tokenId, begun_with: sourceId, issuer },
  });
  return { session, user, secret };
}

/** When the imported key ends; undefined if it does not. Throws 401 if it has ended since the caller was identified. */
function* endOfKey(hash: Uint8Array, at: number): Steps<number | undefined> {
  const key = yield* findImportedKey(hash);
  if (key === undefined || (key.validUntil ?? Infinity) <= at)
    throw new GatewayError("invalid_token", "The key has ended: sign in with another one.");
  return key.validUntil;
}

const AGENT_CHARACTERS_MAX = 256;
