import type { z } from "zod";
import { budgetInfo, budgetJson, creditsOrNull, levelJson, timeOrNull } from "../accounts/index.ts";
import type { Principal } from "../auth/index.ts";
import { type Clock, creditsNumber } from "../core/index.ts";
import type { LedgerStore } from "../ledger/index.ts";
import type { HttpRoute } from "./route.ts";
import { userInfoContract, type userInfoAnswer } from "./user-info.contract.ts";

export interface UserInfoDependencies {
  accounts: LedgerStore;
  clock: Clock;
}

function limitsOf({ rates, models, expiresAt }: Principal) {
  return {
    requests_per_minute: rates?.requestsPerMinute ?? null,
    tokens_per_minute: rates?.tokensPerMinute ?? null,
    concurrent_calls: rates?.concurrentCalls ?? null,
    models: models === undefined ? null : [...models],
    expires_at: timeOrNull(expiresAt),
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
      const identity = {
        object: "user.info" as const,
        user: principal.user,
        token_id: principal.tokenId,
        limits: limitsOf(principal),
      };
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
            balance: creditsOrNull(levels.findLast((level) => level.balance !== undefined)?.balance),
            ...budgetJson(effective),
            levels: levels.map(levelJson),
          };
      return Response.json(answer);
    },
  };
}
