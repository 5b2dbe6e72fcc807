import type { RateLimits } from "../core/index.ts";
import type { TokenRecord } from "./store.ts";

/** Who is calling, once a token has been accepted. One object for as long as the token is kept in memory. */
export interface Principal {
  tokenId: string;
  user: string;
  accountId: string;
  service: boolean;
  admin: boolean;
  models: readonly string[] | undefined;
  /** Undefined where nothing limits how often it calls. */
  rates: Readonly<RateLimits> | undefined;
  /** Milliseconds since the epoch; undefined for a token that never expires. */
  expiresAt: number | undefined;
}

export function toPrincipal(token: TokenRecord): Principal {
  return {
    tokenId: token.id,
    user: token.user,
    accountId: token.accountId,
    service: token.service,
    admin: token.admin,
    models: token.models,
    rates: ratesOf(token),
    expiresAt: token.expiresAt,
  };
}

function ratesOf({ rpm, tpm, concurrency }: TokenRecord): RateLimits | undefined {
  if (rpm === undefined && tpm === undefined && concurrency === undefined) return undefined;
  return {
    ...(rpm === undefined ? {} : { requestsPerMinute: rpm }),
    ...(tpm === undefined ? {} : { tokensPerMinute: tpm }),
    ...(concurrency === undefined ? {} : { concurrentCalls: concurrency }),
  };
}
