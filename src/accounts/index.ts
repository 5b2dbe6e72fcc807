export { type BudgetInfo, budgetInfo, type LevelBudget } from "./budget-info.ts";
export {
  type AccountsDependencies,
  type CreatedToken,
  createToken,
  grantCredits,
  type TokenRequest,
} from "./create-token.ts";
