import type { BrowserSession } from "../../../auth/index.ts";
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
    const ended = yield endTokenOf(session, environment.clock());
    if (ended.length > 0)
      note({ act: "session.end", target: `session:${id}`, before: { user_id: user.id, token_id: session.tokenId } });
    return { session };
  });
}

function notFound(id: string): AccountError {
  return new AccountError(`there is no session ${id}`, "account_not_found");
}
