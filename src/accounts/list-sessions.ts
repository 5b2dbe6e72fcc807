import type { BrowserSession } from "../auth/index.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import type { Holder } from "./holder.ts";
import { notFound, reaches, reachesAll } from "./reach.ts";

export interface BrowserSessionPage {
  limit: number;
  /** The last id of the page before. */
  after?: string | undefined;
  /** Of this user only, by id or name. */
  user?: string | undefined;
  /** Sessions without a request for so long have ended, in milliseconds. */
  idleMs: number;
}

export interface ListedBrowserSession {
  session: BrowserSession;
  user: Holder | undefined;
}

/** The open sessions in the caller's reach, by id. Throws 404 if the user is out of it. */
export async function listSessions(
  deps: AccountsDependencies,
  page: BrowserSessionPage,
): Promise<ListedBrowserSession[]> {
  const { caller, holders, environment } = deps;
  const { limit, after, user: named, idleMs } = page;
  const at = environment.clock();
  const filter = { limit, after, at, seenAfter: at - idleMs };
  const user = named === undefined ? undefined : await holders.find("user", named);
  if (named !== undefined && (user === undefined || !reaches(caller, user))) throw notFound("user", named);
  const organisation = caller.role === "organisation_admin" ? caller.organisation : undefined;
  const own = reachesAll(caller) || organisation !== undefined ? undefined : caller.user;
  const found = await holders.sessions({ ...filter, ...(user ? { user: user.id } : { user: own, organisation }) });
  const ids = [...new Set(found.map(({ userId }) => userId))];
  const users = ids.length === 0 ? [] : await holders.places({ users: ids, projects: [], accounts: [] });
  const byId = new Map(users.map((each) => [each.id, each]));
  return found.map((session) => ({ session, user: byId.get(session.userId) }));
}

/** A session without its secret, in answers. */
export function sessionJson({ session, user }: ListedBrowserSession) {
  const { id, userId, tokenId, sourceId, issuer, address, agent, createdAt, seenAt, expiresAt } = session;
  return {
    object: "session" as const,
    id,
    user: user?.name ?? userId,
    user_id: userId,
    token_id: tokenId,
    begun_with: sourceId,
    issuer: issuer ?? null,
    address: address ?? null,
    user_agent: agent ?? null,
    created_at: new Date(createdAt).toISOString(),
    seen_at: new Date(seenAt).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  };
}
