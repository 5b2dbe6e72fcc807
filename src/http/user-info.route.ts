import type { z } from "zod";
import { budgetInfo, type LevelBudget } from "../accounts/index.ts";
import { type Clock, creditsNumber, type Nano } from "../core/index.ts";
import type { LedgerStore } from "../ledger/index.ts";
import type { HttpRoute } from "./route.ts";
import { userInfoContract, type userInfoAnswer } from "./user-info.contract.ts";

export interface UserInfoDependencies {
  accounts: LedgerStore;
  clock: Clock;
}

const optional = (nano: Nano | undefined): number | null => (nano === undefined ? null : creditsNumber(nano));

function budgetFields(budget: LevelBudget | undefined) {
  const reset = budget?.periodReset;
  return {
    max_budget: optional(budget?.maxBudget),
    spend: creditsNumber(budget?.spend ?? 0n),
    held: creditsNumber(budget?.held ?? 0n),
    available: optional(budget?.available),
    period: budget?.period ?? null,
    period_reset_at: reset === undefined ? null : new Date(reset).toISOString(),
  };
}

/** What the caller may still spend. A service caller gets the bypass marker and no balance. */
export function userInfoRoute({ accounts, clock }: UserInfoDependencies): HttpRoute {
  return {
    contract: userInfoContract,
    surface: "openai",
    access: "token",
    async handle({ principal }) {
      const at = clock();
      const { effective, levels } = budgetInfo(await accounts.chain(principal.accountId, at), at);
      const identity = { object: "user.info" as const, user: principal.user, token_id: principal.tokenId };
      const answer: z.input<typeof userInfoAnswer> = principal.service
        ? {
            ...identity,
            service_bypass: true,
            spend: creditsNumber(levels[0]?.spend ?? 0n),
            held: creditsNumber(levels[0]?.held ?? 0n),
          }
        : {
            ...identity,
            service_bypass: false,
            balance: optional(levels.findLast((level) => level.balance !== undefined)?.balance),
            ...budgetFields(effective),
            levels: levels.map((level) => ({
              level: level.kind,
              name: level.name,
              balance: optional(level.balance),
              ...budgetFields(level),
            })),
          };
      return Response.json(answer);
    },
  };
}
