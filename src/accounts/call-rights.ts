import { type Principal, refusalOf, toPrincipal } from "../auth/index.ts";
import { type GatewayError, matchesGlob, type Nano } from "../core/index.ts";
import { budgetInfo } from "./budget-info.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { accountsForAll, budgetsBeside } from "./budgets/list-budgets.ts";
import { findChain } from "./find-chain.ts";
import type { AccountState } from "../ledger/index.ts";

/** The rights of a token's calls, and the credits that are left for them. */
export interface CallRights {
  caller: Principal;
  /** Nano-credits that are left for calls of all models; undefined without a limit. */
  available: Nano | undefined;
  /** The same for calls of a model, by its id with prefix: budgets for its groups count too. */
  availableFor: (model: string) => Nano | undefined;
  /** Why its calls are refused now. */
  refusal: GatewayError | undefined;
}

/** Undefined if there is no token with this id. */
export async function callRights(deps: AccountsDependencies, tokenId: string): Promise<CallRights | undefined> {
  const found = await deps.tokens.findById(tokenId);
  if (found === undefined) return undefined;
  const now = deps.environment.clock();
  const chain = await findChain(deps, { kind: "token", name: tokenId });
  const beside = await budgetsBeside(deps, chain);
  const leftIn = (budgets: readonly AccountState[]): Nano | undefined =>
    budgetInfo(chain, now, deps.accounts.calendar, budgets).effective?.available;
  return {
    caller: toPrincipal(found),
    available: leftIn(accountsForAll(beside)),
    availableFor: (model) => {
      const counted = beside.filter(({ group }) => group?.models.some((glob) => matchesGlob(glob, model)) ?? true);
      return leftIn(counted.map(({ account }) => account));
    },
    refusal: refusalOf(found, now),
  };
}
