export { addAlertChannel, listAlertChannels, removeAlertChannel } from "./acts/alert-channels.ts";
export type { OwnAlertChannel } from "./sql/alert-channels.ts";
export { AccountError } from "./account-error.ts";
export type { ActContext } from "./acts/act-context.ts";
export { auditJson } from "./audit-json.ts";
export { accountBudgetJson } from "./budgets/budget-json.ts";
export { addBudget, type BudgetChanges, changeBudget, deleteBudget } from "./budgets/budgets.ts";
export type { BudgetState } from "./sql/budgets.ts";
export { addGroup, changeGroup, deleteGroup, groupJson } from "./budgets/groups.ts";
export {
  accountsForAll,
  budgetsBeside,
  findBudget,
  findModelGroup,
  listBudgets,
  listGroups,
} from "./budgets/list-budgets.ts";
export { budgetInfo, type LevelBudget, levelBudget } from "./budget-info.ts";
export { budgetJson, creditsOrNull, levelJson, timeOrNull } from "./budget-json.ts";
export { changeHolder, type HolderChanges, type LimitChanges, type PolicyChanges } from "./acts/change-holder.ts";
export { changeToken, revokeToken, rotateToken } from "./acts/change-token.ts";
export { applyPeople, type PersonRow, type PeopleDifference } from "./acts/apply-people.ts";
export { addHolder } from "./acts/create-holder.ts";
export { createToken, createTokenWithUser, type TokenRequest } from "./acts/create-token.ts";
export type { AccountName, AccountsDependencies, Caller } from "./dependencies.ts";
export { deleteHolder } from "./acts/delete-holder.ts";
export { callRights } from "./call-rights.ts";
export { findChain } from "./find-chain.ts";
export { findHolderState, findTokenState } from "./find-state.ts";
export { holderJson, tokenJson } from "./holder-json.ts";
export { type HolderKind, oneOfKind, ownerOf, ownerPlace, type TokenPolicy } from "./holder.ts";
export {
  type AccountsPlan,
  importAccounts,
  type ImportedBudget,
  type ImportedHolder,
  type ImportedToken,
  type ImportOutcome,
} from "./acts/import-accounts.ts";
export { issueTokenTo } from "./acts/issue-token.ts";
export { entriesOf, listEntries, listHolds } from "./list-books.ts";
export { listHolders } from "./list-holders.ts";
export { listTokens } from "./list-tokens.ts";
export { requireNoLimits } from "./acts/token-policy.ts";
export { grantCredits, postCredits } from "./acts/grant-credits.ts";
export { readAsProject } from "./read-as-project.ts";
export { refundCall } from "./acts/refund-call.ts";
export { signIn, type SignInRequest } from "./acts/sign-in/sign-in.ts";
export { beginSession, type BegunSession, type SessionRequest } from "./acts/sign-in/begin-session.ts";
export { endSession } from "./acts/sign-in/end-session.ts";
export { issueSignInCode, takeSignInCode } from "./acts/sign-in/sign-in-code.ts";
export { listSessions, sessionJson } from "./list-sessions.ts";
export { listAccounts } from "./list-accounts.ts";
export { openHolderStore } from "./sql/open.ts";
