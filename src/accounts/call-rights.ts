import { type Principal, refusalOf, toPrincipal } from "../auth/index.ts";
import type { GatewayError, Nano } from "../core/index.ts";
import { budgetInfo } from "./budget-info.ts";
import type { AccountsDependencies } from "./dependencies.ts";
import { findChain } from "./find-chain.ts";

/** The rights of a token's calls, and the credits that are left for them. */
export interface CallRights {
  caller: Principal;
  /** Nano-credits; undefined without a limit. */
  available: Nano | undefined;
  /** Why its calls are refused now. */
  refusal: GatewayError | undefined;
}

/** Undefined if there is no token with this id. */
export async function callRights(deps: AccountsDependencies, tokenId: string): Promise<CallRights | undefined> {
  const found = await deps.tokens.findById(tokenId);
  if (found === undefined) return undefined;
  const now = deps.environment.clock();
  const chain = await findChain(deps, { kind: "token", name: tokenId });
  const { effective } = budgetInfo(chain, now, deps.accounts.calendar);
  return { caller: toPrincipal(found), available: effective?.available, refusal: refusalOf(found, now) };
}
