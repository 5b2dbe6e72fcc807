export { AccountError } from "./account-error.ts";
export { budgetInfo, levelBudget } from "./budget-info.ts";
export { budgetJson, creditsOrNull, levelJson, timeOrNull } from "./budget-json.ts";
export { createToken, type TokenRequest } from "./create-token.ts";
export type { AccountName, AccountsDependencies } from "./dependencies.ts";
export { findChain } from "./find-chain.ts";
export { grantCredits } from "./grant-credits.ts";
export { listAccounts } from "./list-accounts.ts";
export { type LimitChanges, setLimits } from "./set-limits.ts";
