import type { NoteChange } from "../../../audit/index.ts";
import type { BrowserSession } from "../../../auth/index.ts";
import type { Steps } from "../../../storage/index.ts";
import { AccountError } from "../../account-error.ts";
import type { AccountsDependencies } from "../../dependencies.ts";
import { reaches, requireKeeper } from "../../reach.ts";
import { findById } from "../../sql/holders.ts";
import { endTokenOf, findSession } from "../../sql/sessions.ts";
import { type ActContext, actOptions } from "../act-context.ts";

/**
 * Ends a session: the caller's own, or one of a user whose tokens the caller may take away. On all nodes, its requests are refused within
 * a second. Throws an `AccountError`: 404 out of the caller's reach.
 */
export function endSession(
  deps: AccountsDependencies,
  id: string,
  context: ActContext = {},
): Promise<{ session: BrowserSession }> {
  const { caller, environment, log } = deps;
  return log.act(actOptions(deps, context), function* (note) {
    const session = yield* findSession(id);
    const user = session && (yield* findById("user", session.userId));
    if (session === undefined || user === undefined || !reaches(caller, user)) throw notFound(id);
    if (caller.session !== id) requireKeeper(caller, user, session.role);
    yield* endSteps(session, { at: environment.clock() }, note);
    return { session };
  });
}

interface Ending {
  at: number;
  /** The session that begins in its place; undefined if somebody has ended it. */
  endedBy?: string;
}

/** Ends a session, once: of one that has ended there is no second row in the audit log. */
export function* endSteps(session: BrowserSession, { at, endedBy }: Ending, note: NoteChange): Steps<void> {
  const { id, userId, tokenId } = session;
  const ended = yield endTokenOf(session, at);
  if (ended.length === 0) return;
  note({
    act: "session.end",
    target: `session:${id}`,
    before: { user_id: userId, token_id: tokenId },
    ...(endedBy !== undefined && { after: { ended_by: endedBy } }),
  });
}

function notFound(id: string): AccountError {
  return new AccountError(`there is no session ${id}`, "account_not_found");
}
