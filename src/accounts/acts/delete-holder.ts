import type { AccountState } from "../../ledger/index.ts";
import { AccountError } from "../account-error.ts";
import { type ActContext, actOptions, requireVersion } from "./act-context.ts";
import { holderSteps, type HolderState, lastOwner, mayBeOwner } from "./change-holder.ts";
import { requireNoCreditsOfOwn } from "./own-credits.ts";
import type { AccountsDependencies } from "../dependencies.ts";
import { type HolderKind, ownerOf } from "../holder.ts";
import { requireNoMoreThanCaller, roleRequired } from "../reach.ts";
import { settingsOf } from "../settings.ts";
import { deleteAlertChannelsOf } from "../sql/alert-channels.ts";
import { deleteBudgetsOf } from "../sql/budgets.ts";
import { hasHolders, hasOwner, leaveProjects, setMembers, updateHolder } from "../sql/holders.ts";
import { revokeTokensOf } from "../sql/tokens.ts";

/**
 * Deletes an organisation without users and projects, or a user or project, whose tokens are revoked with it. Its name is free then, and its id never given
 * again. Throws an `AccountError` if it has credits, owes some, or has calls under way.
 */
export function deleteHolder(
  deps: AccountsDependencies,
  { kind, name }: { kind: HolderKind; name: string },
  context: ActContext = {},
): Promise<HolderState> {
  return deps.log.act(actOptions(deps, context), function* (note) {
    const state = yield* holderSteps(deps, kind, name);
    const { holder, chain } = state;
    requireVersion(context, holder.version);
    if (deps.caller.role !== "owner") {
      if (kind === "organisation" || deps.caller.role !== "organisation_admin")
        throw roleRequired(`The role ${deps.caller.role} can't delete ${kind} ${name}.`);
      requireNoMoreThanCaller(deps.caller, holder);
    }
    requireNoCredits(kind, name, chain[0]);
    if (kind === "organisation" && (yield* hasHolders(holder.id)))
      throw new AccountError(`organisation ${name} has users or projects: delete them first`);
    const at = deps.environment.clock();
    const hadOwner = mayBeOwner(holder) && (yield* hasOwner(at));
    yield updateHolder({ ...holder, deletedAt: at });
    if (hadOwner && !(yield* hasOwner(at))) throw lastOwner();
    if (kind !== "organisation") {
      yield revokeTokensOf(ownerOf(holder), at);
      yield deleteAlertChannelsOf(ownerOf(holder));
    }
    if (kind === "user") yield leaveProjects(holder.id);
    if (kind === "project") yield* setMembers(holder.id, []);
    yield deleteBudgetsOf(holder, at);
    note({ act: `${kind}.delete`, target: `${kind}:${holder.id}`, before: settingsOf(holder, chain[0]) });
    return { ...state, holder: { ...holder, deletedAt: at } };
  });
}

function requireNoCredits(kind: HolderKind, name: string, account: AccountState | undefined): void {
  if (account === undefined) return;
  if (account.debitsPending > 0n) throw new AccountError(`${kind} ${name} has calls under way: disable it first`);
  requireNoCreditsOfOwn({ kind, name }, account);
}
