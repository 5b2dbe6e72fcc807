export { AccountError } from "./account-error.ts";
export { type BudgetInfo, budgetInfo, type LevelBudget, levelBudget } from "./budget-info.ts";
export { budgetJson, creditsOrNull, levelJson, timeOrNull } from "./budget-json.ts";
export { type CreatedToken, createToken, type TokenRequest } from "./create-token.ts";
export type { AccountName, AccountsDependencies } from "./dependencies.ts";
export { findChain } from "./find-chain.ts";
export { grantCredits, type Holder } from "./grant-credits.ts";
export { listAccounts, type ListedAccount } from "./list-accounts.ts";
export { type LimitChanges, setLimits } from "./set-limits.ts";
